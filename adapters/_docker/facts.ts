/** What a daemon can do, as it says itself; every verdict rests on it. */

/** What was found of a daemon. */
export interface DaemonFacts {
  readonly version: string;
  /** The version of the API that is spoken. */
  readonly apiVersion: string;
  /** Whether it may see this machine's files: it is reached by a socket of this machine. Each mount is still tried. */
  readonly isLocal: boolean;
  /** Whether users in a container have the same numbers on the daemon's machine. */
  readonly sameUsers: boolean;
  readonly can: { readonly memory: boolean; readonly swap: boolean; readonly cpus: boolean; readonly pids: boolean };
  /** Whether its containers have its filter of system calls. */
  readonly filtersCalls: boolean;
  readonly isRootless: boolean;
  /** Podman, which speaks the same API and knows no owners of memory that is mounted. */
  readonly isPodman: boolean;
  readonly runtimes: readonly string[];
  /** The variables that images bring, as far as they were looked at. */
  readonly imageEnv: ReadonlyMap<string, readonly string[]>;
}

/** The parts of `GET /info` that are read. */
export interface DaemonInfo {
  readonly ServerVersion?: string;
  readonly OSType?: string;
  readonly MemoryLimit?: boolean;
  readonly SwapLimit?: boolean;
  readonly CpuCfsPeriod?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly PidsLimit?: boolean;
  readonly SecurityOptions?: readonly string[] | null;
  readonly Runtimes?: Readonly<Record<string, unknown>> | null;
}

/** Pure: what follows from an answer. What it does not say it cannot. */
export function factsOf(
  info: DaemonInfo,
  rest: Pick<DaemonFacts, "apiVersion" | "isLocal" | "isPodman" | "imageEnv">,
): DaemonFacts {
  const options = (info.SecurityOptions ?? []).map((option) => option.split(","));
  const named = (name: string) => options.find((parts) => parts.includes(`name=${name}`));
  const isRootless = named("rootless") !== undefined;
  const seccomp = named("seccomp");
  return {
    ...rest,
    version: info.ServerVersion ?? "unknown",
    sameUsers: !isRootless && named("userns") === undefined,
    can: {
      memory: info.MemoryLimit === true,
      swap: info.SwapLimit === true,
      cpus: info.CpuCfsPeriod === true && info.CpuCfsQuota === true,
      pids: info.PidsLimit === true,
    },
    filtersCalls: seccomp !== undefined && !seccomp.includes("profile=unconfined"),
    isRootless,
    runtimes: Object.keys(info.Runtimes ?? {}),
  };
}

/** Of variables, as `NAME=value`. */
export function namesOf(env: readonly string[] | null | undefined): readonly string[] {
  return (env ?? []).map((entry) => entry.slice(0, entry.indexOf("=")));
}

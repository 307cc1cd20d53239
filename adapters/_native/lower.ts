/** A plan as the options of a spawn, and what of it holds here. Pure. */

import type { Clause, ExecutionPlan, Lowering, Verdict, Warning } from "../../src/types.ts";
import type { CellLimits, Containment } from "./containment.ts";

/** What was found of this machine when the adapter was made. */
export interface NativeFacts {
  readonly platform: string;
  readonly containment: Pick<Containment, "kind" | "description" | "holdsDaemons" | "can" | "cannot">;
  /** The program that sets limits of a process and becomes the command (prlimit(1) of util-linux); `null`: not found. */
  readonly prlimit: string | null;
  /** The most files that this process may let another open (the hard limit); more cannot be asked for. @default no limit */
  readonly mostOpenFiles?: number;
}

/** What a spawn needs besides what is looked up at its moment. */
export interface NativeArtifact {
  /** Set in front of the command; it replaces itself by it. */
  readonly wrapper: readonly string[];
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string | null;
}

const uncontained: Warning = {
  code: "uncontained",
  message: "A process that leaves its process group is not ended with the command: there is no cgroup here to hold it",
};

export function lowerNative(plan: ExecutionPlan, facts: NativeFacts): Lowering {
  const artifact = artifactOf(plan, facts);
  return {
    artifact,
    // Written when it is read: an execution has no use for it.
    get text() {
      return describe(artifact, facts);
    },
    verdicts: verdictsOf(plan, facts),
    addedEnv: facts.platform === "win32" ? ["SYSTEMROOT"] : [],
    warnings: facts.containment.holdsDaemons ? [] : [uncontained],
  };
}

/** What is started, and what is shown of it. */
export function artifactOf(plan: ExecutionPlan, facts: NativeFacts): NativeArtifact {
  const { argv, env, workingDir } = plan;
  return { wrapper: wrapperFor(plan, facts), argv, env, workingDir };
}

function describe({ wrapper, argv, env, workingDir }: NativeArtifact, { containment }: NativeFacts): string {
  const names = Object.keys(env).sort().join(" ");
  const words = [...wrapper, ...argv].map((word) => JSON.stringify(word)).join(" ");
  const where = workingDir ?? "a private directory";
  return `spawn ${words}\nin ${where}\nwith ${names === "" ? "no variables" : names}\nheld by ${containment.description}`;
}

function wrapperFor(
  { limits }: ExecutionPlan,
  { prlimit, containment, mostOpenFiles = Infinity }: NativeFacts,
): readonly string[] {
  if (prlimit === null) return [];
  const flags: string[] = [];
  if (limits.openFiles !== null) {
    const openFiles = Math.min(limits.openFiles, mostOpenFiles);
    flags.push(`--nofile=${openFiles}:${openFiles}`);
  }
  if (limits.cpuTimeMs !== null && !containment.can.cpuTimeMs)
    flags.push(`--cpu=${Math.ceil(limits.cpuTimeMs / 1000)}`);
  return flags.length === 0 ? [] : [prlimit, ...flags, "--"];
}

function verdictsOf(
  { network, filesystem, privilege, limits }: ExecutionPlan,
  facts: NativeFacts,
): Record<Clause, Verdict> {
  const { containment, prlimit } = facts;
  const isolation = (asked: string, widest: string, what: string): Verdict =>
    asked === widest
      ? { grade: "enforced", because: `The command has ${what}, as asked` }
      : { grade: "impossible", because: `A local process has ${what}; a sandbox or another backend restricts it` };
  const limit = (asked: number | null, able: boolean, how: string, otherwise: Verdict): Verdict => {
    if (asked === null) return { grade: "enforced", because: "No limit is asked" };
    return able ? { grade: "enforced", because: how } : otherwise;
  };
  const none = (what: string): Verdict => ({ grade: "impossible", because: what });
  const byGroup = `Kept for the whole tree by ${containment.description}`;
  const without = (what: keyof CellLimits) =>
    containment.cannot?.[what] ?? "There is no cgroup here that this process may divide";
  return {
    network: isolation(network, "all", "the host's network"),
    filesystem: isolation(filesystem, "host", "the host user's files"),
    privilege: isolation(privilege, "host", "the host user's privileges"),
    environment: { grade: "enforced", because: "Exactly the plan's variables are given" },
    cpu: limit(limits.cpus, false, "", none("A share of the processors is not set for local processes")),
    cpu_time: limit(
      limits.cpuTimeMs,
      containment.can.cpuTimeMs,
      byGroup,
      prlimit === null
        ? none(`There is no prlimit program here, and no cgroup: ${without("cpuTimeMs")}`)
        : {
            grade: "weaker",
            because: `The limit holds for each process by itself (RLIMIT_CPU): ${without("cpuTimeMs")}`,
          },
    ),
    memory: limit(limits.memoryBytes, containment.can.memoryBytes, byGroup, none(without("memoryBytes"))),
    pids: limit(limits.pids, containment.can.pids, byGroup, none(without("pids"))),
    files: limit(
      limits.openFiles,
      prlimit !== null,
      "Kept for each process by RLIMIT_NOFILE",
      none("There is no prlimit program here"),
    ),
  };
}

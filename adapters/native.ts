/** Local processes, on Node, Bun and Deno. */

import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pause } from "../host/pause.ts";
import type { BackendFactory } from "../src/backend.ts";
import type { Config } from "../src/config.ts";
import type { Availability, Capabilities, RuntimeAdapter } from "../src/types.ts";
import { createCgroups } from "./_native/cgroup.ts";
import { findHierarchies, type Hierarchy } from "./_native/cgroup-mounts.ts";
import { whyUndivided } from "./_native/cgroup-obstacles.ts";
import type { Containment } from "./_native/containment.ts";
import { startNative } from "./_native/execution.ts";
import { openFilesLimit } from "./_native/inherited-descriptors.ts";
import { artifactOf, lowerNative, type NativeFacts, protecting } from "./_native/lower.ts";
import { createPipePool } from "./_native/pipes.ts";
import { nativePolicy } from "./_native/policy.ts";
import { createProcessGroups } from "./_native/process-group.ts";
import { openRecordStore, type RunRecords } from "./_native/run-records.ts";
import type { Protection } from "./_native/sandbox/lower-sandbox.ts";
import type { PreparedSandbox, SandboxPlace } from "./_native/sandbox/prepare.ts";
import { whyUnused } from "./_native/sandbox/unused-keys.ts";
import { chooseSpawn } from "./_native/spawn.ts";
import { sweepOrphans } from "./_native/sweep.ts";
import { createProcessTrees } from "./_native/windows-tree.ts";

const capabilitiesOf = (isSandboxed: boolean): Capabilities => ({
  separateStderr: true,
  // A sandbox's monitor tells of it only by the number that a shell would give.
  reportsSignal: !isSandboxed,
  stdin: true,
  files: true,
  runsPrograms: true,
  resumable: false,
  anyEnvName: true,
});

/**
 * The native backend: a child process of this one. Isolates nothing by itself; ends everything it began.
 *
 * @example
 * ```ts
 * import { createRuntime } from "prx-runtime";
 *
 * await using runtime = await createRuntime({ runtime: { backend: "native" } });
 * const { stdout } = await runtime.execute("echo", ["hello"]);
 * console.log(stdout);
 * // → hello
 * ```
 */
export const native: BackendFactory = async ({ config, host, log }) => {
  const directory = stateDirectory(host.env);
  const store = openRecordStore(directory);
  const records = store.own(host.owner, []);
  // Begun early: another process makes the pipes meanwhile.
  const isSandboxed = config.security.sandbox.backend !== "none";
  const loading = chooseSpawn(() => createPipePool(join(records.home, "pipes")), isSandboxed);
  const hierarchies = findHierarchies();
  const cgroups = createCgroups(hierarchies, host.owner);
  if (cgroups !== null) records.keepsIn(cgroups.trunks);
  const containment = cgroups ?? createGroups(records, hierarchies);
  const place = { env: host.env, ownDirectory: records.home, stateDirectory: directory };
  const sandbox = await sandboxOf(config, place).catch((error: unknown) => {
    containment.close();
    records.close();
    throw error;
  });
  const facts: NativeFacts = {
    platform: process.platform,
    containment,
    prlimit: findPrlimit(),
    ...openFilesLimit().hard,
    sandbox: sandbox.facts,
  };
  const left = await sweepOrphans(store);
  if (left.found > 0)
    log({ code: "leftovers_ended", message: `Ended ${left.removed} of ${left.found} executions of dead hosts` });
  const close = closeWithProcess(containment, records);
  const spawn = await loading;

  const adapter: RuntimeAdapter = {
    name: "native",
    capabilities: capabilitiesOf(isSandboxed),
    isAvailable: async () => sandbox.unavailable ?? availability(facts),
    lower: (plan) => lowerNative(plan, facts),
    start: (plan, io, signal) => {
      const artifactIn = (workingDir: string, protection?: Protection) =>
        artifactOf(plan, protection === undefined ? facts : protecting(facts, protection), workingDir);
      return startNative({ plan, artifactIn, io, signal, containment, spawn });
    },
    sweep: () => sweepOrphans(store),
    close,
  };
  return { adapter, policy: nativePolicy(config, process.platform) };
};

/** The larger part of a sandbox is loaded by those who have one. */
async function sandboxOf(config: Config, place: SandboxPlace): Promise<PreparedSandbox> {
  if (config.security.sandbox.backend === "none") return { facts: null, unavailable: whyUnused(config) };
  const { prepareSandbox } = await import("./_native/sandbox/prepare.ts");
  return prepareSandbox(config, place);
}

function createGroups(records: RunRecords, hierarchies: readonly Hierarchy[]): Containment {
  if (process.platform === "win32") return createProcessTrees();
  return createProcessGroups(records, whyUndivided(hierarchies));
}

function availability({ containment, sandbox }: NativeFacts): Availability {
  const within = sandbox == null ? "" : `, sandboxed by ${sandbox.program.name}`;
  return { available: true, details: `Local processes, held by ${containment.description}${within}` };
}

const closePauseMs = 5;
const mostCloseRounds = 40;

/** What is to be done when the process ends. One listener does it all: each runtime's own would be taken for a leak. */
const closers = new Set<() => void>();
const closeAll = () => {
  for (const close of closers) close();
};

function onExit(close: () => void): void {
  if (closers.size === 0) process.once("exit", closeAll);
  closers.add(close);
}

function offExit(close: () => void): void {
  closers.delete(close);
  if (closers.size === 0) process.removeListener("exit", closeAll);
}

/** Ends and removes everything of this host, also when the process ends without anybody closing the runtime. */
function closeWithProcess(containment: Containment, records: RunRecords): () => Promise<void> {
  // What could not be removed stays on record, for the next start.
  const close = () => {
    const gone = containment.close();
    if (gone) records.close();
    return gone;
  };
  onExit(close);
  return async () => {
    offExit(close);
    // The kernel can take a moment to let go of a cgroup.
    for (let round = 0; round < mostCloseRounds && !close(); round += 1) {
      await pause(closePauseMs);
    }
  };
}

/** Where records are kept: the user's runtime directory, which goes with the boot, or one of their own below the temporary one. */
function stateDirectory(env: Readonly<Record<string, string | undefined>>): string {
  const own = env["PRX_STATE_DIR"];
  if (own !== undefined && own !== "") return resolve(own);
  const runtimeDirectory = env["XDG_RUNTIME_DIR"];
  if (runtimeDirectory !== undefined && runtimeDirectory !== "") return join(runtimeDirectory, "prx-runtime");
  return join(tmpdir(), `prx-runtime-${process.getuid?.() ?? "user"}`);
}

function findPrlimit(): string | null {
  return ["/usr/bin/prlimit", "/bin/prlimit"].find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

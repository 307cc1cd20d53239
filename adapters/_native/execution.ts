/** One local process from spawn to the last trace of it. */

import { makePrivateDirectory, removePrivateDirectory } from "../../host/private-directory.ts";
import { collectFiles, writeFiles } from "../../host/workspace-files.ts";
import { messageOf, RuntimeError } from "../../src/errors.ts";
import type {
  CollectedFile,
  Execution,
  ExecutionPlan,
  Exit,
  ExitKind,
  Leftover,
  Progress,
  StartIo,
  Warning,
} from "../../src/types.ts";
import type { Child, Spawn } from "./child.ts";
import type { Cell, Containment } from "./containment.ts";
import { watchCpuTime } from "./cpu-time.ts";
import { drainable } from "./drain.ts";
import type { NativeArtifact } from "./lower.ts";
import { resolveCommand, statOf } from "./resolve-command.ts";
import { type Kept, keepNames } from "./sandbox/kept-names.ts";
import { keptPlaces, whyKept } from "./sandbox/kept-places.ts";
import type { Protection } from "./sandbox/lower-sandbox.ts";
import { sandboxed } from "./sandbox/sandboxed-spawn.ts";
import { sightIn } from "./sandbox/visible.ts";
import { endTree } from "./stop.ts";

/** What an execution is started with. */
export interface NativeStart {
  readonly plan: ExecutionPlan;
  readonly artifactIn: (workingDir: string, protection?: Protection) => NativeArtifact;
  readonly io: StartIo;
  readonly signal: AbortSignal;
  readonly containment: Containment;
  readonly spawn: Spawn;
}

const noProgress: AsyncIterable<Progress> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

/** @throws RuntimeError when nothing was begun: everything made on the way has been removed again. */
export async function startNative(start: NativeStart): Promise<Execution> {
  const { plan } = start;
  const workingDir = plan.workingDir ?? makePrivateDirectory();
  let kept: Kept | null = null;
  const removeDirectory = () => {
    kept?.remove();
    return plan.workingDir === null ? removePrivateDirectory(workingDir) : [];
  };
  let cell: Cell | null = null;
  try {
    const lowered = start.artifactIn(workingDir);
    const artifactWith = (protection: Protection) => start.artifactIn(workingDir, protection);
    kept = keepNames(lowered, { id: plan.id, workingDir, artifactWith });
    const { artifact } = kept;
    putFiles(start, artifact, workingDir);
    const search = { platform: process.platform, env: plan.env, workingDir };
    const file = resolveCommand(
      plan.argv[0],
      search,
      artifact.sandbox === null ? undefined : sightIn(artifact.sandbox.view),
    );
    cell = openCell(start, artifact);
    const child = await spawnIn(cell, start, { artifact, file, workingDir });
    return follow(start, { child, cell, workingDir, removeDirectory });
  } catch (error) {
    cell?.dispose();
    const told = explainFailure(error, workingDir);
    removeDirectory();
    throw told;
  }
}

/** After the names that are to stay missing have something in their place: what is kept is told by what it is. */
function putFiles({ plan, io }: NativeStart, { sandbox }: NativeArtifact, workingDir: string): void {
  if (plan.files.length === 0) return;
  const kept = sandbox === null ? undefined : { holds: keptPlaces(sandbox.view), why: whyKept };
  writeFiles(workingDir, plan.files, { bytes: io.files, backend: "native", kept });
}

function openCell({ containment, plan }: NativeStart, { sandbox }: NativeArtifact): Cell {
  try {
    const { memoryBytes, pids, cpuTimeMs } = plan.limits;
    const monitored = sandbox !== null;
    const allPids = pids === null || sandbox === null ? pids : pids + sandbox.program.pids;
    return containment.open(plan.id, { memoryBytes, pids: allPids, cpuTimeMs }, { monitored });
  } catch (error) {
    throw new RuntimeError("start_failed", `Nothing could be made to hold the command: ${messageOf(error)}`, {
      backend: "native",
      cause: error,
    });
  }
}

async function spawnIn(
  cell: Cell,
  { plan, spawn }: NativeStart,
  at: { artifact: NativeArtifact; file: string; workingDir: string },
): Promise<Child> {
  const { artifact } = at;
  const [wrapper, ...flags] = artifact.wrapper;
  const args = plan.argv.slice(1);
  const request = {
    file: wrapper ?? at.file,
    args: wrapper === undefined ? args : [...flags, at.file, ...args],
    env: artifact.env,
    workingDir: at.workingDir,
    stdin: plan.stdin !== "none",
  };
  const start = artifact.sandbox === null ? spawn : sandboxed(spawn, artifact.sandbox, { id: plan.id, file: at.file });
  const child = cell.enter(() => start(request));
  if (child.pid !== undefined) return child;
  throw spawnError(await child.failure, plan.argv[0]);
}

interface Begun {
  readonly child: Child;
  readonly cell: Cell;
  readonly workingDir: string;
  readonly removeDirectory: () => readonly Leftover[];
}

function follow(
  { plan, io, signal, containment }: NativeStart,
  { child, cell, workingDir, removeDirectory }: Begun,
): Execution {
  const stdout = drainable(child.stdout);
  const stderr = drainable(child.stderr);
  const cpuTime = watchCpuTime(cell, plan.limits.cpuTimeMs);
  const { monitor } = child;
  void monitor?.init.then((init) => init !== null && cell.alsoHolds(init));
  // The monitor first: a look at a process is no trouble to those who are dying, one at a cgroup is.
  const isEmpty = () => (monitor?.isEmpty() ?? true) && cell.isEmpty();
  const stop = endTree({ ...cell, isEmpty }, child.exited, {
    signal,
    graceMs: plan.limits.killGraceMs,
    collapses: monitor !== undefined,
    hasBegun: monitor?.hasBegun,
  });
  if (io.stdin !== undefined && child.stdin !== null) writeAll(child.stdin, io.stdin);

  const ended = child.exited.then(async (exit): Promise<Exit> => {
    const kind = monitor === undefined ? exit : await monitor.ending(exit, signal.aborted);
    const spent = cpuTime.settle();
    const outOfMemory = cell.wasOutOfMemory();
    if (outOfMemory && wasKilled(kind) && !stop.killed && !spent) return { kind: "out_of_memory", number: killNumber };
    return { ...kind, warnings: [...(spent ? [cpuTimeSpent] : []), ...(outOfMemory ? [childOutOfMemory] : [])] };
  });
  const emptied = stop.emptied.then((leftovers) => {
    stdout.finish();
    stderr.finish();
    return leftovers;
  });
  const outputs = emptied.then((): readonly CollectedFile[] => collectFiles(workingDir, plan.outputs));
  const findings = Promise.all([child.exited, stderr.closed]).then(([exit]) => monitor?.findings(exit) ?? []);
  const released = Promise.all([emptied, outputs, stdout.closed, stderr.closed]).then(([leftovers]) => {
    // In a sandbox a path without rights (open(2), O_PATH) is enough to come back to a pipe, and no look at the pipe tells of it.
    child.dispose(containment.holdsDaemons && leftovers.length === 0 && monitor === undefined);
    return [...leftovers, ...cell.dispose(), ...removeDirectory()];
  });
  return {
    ref: { backend: plan.backend, id: plan.id, owner: plan.owner, handle: String(child.pid) },
    stdout: stdout.stream,
    stderr: stderr.stream,
    ...(plan.stdin === "stream" && child.stdin !== null ? { stdin: child.stdin } : {}),
    progress: noProgress,
    ended,
    outputs,
    findings,
    released,
  };
}

const killNumber = 9;

/** A monitor tells of a signal only by the number that a shell would give. */
function wasKilled(kind: ExitKind): boolean {
  return kind.kind === "signaled"
    ? kind.signal === "SIGKILL"
    : kind.kind === "exited" && kind.code === 128 + killNumber;
}

const cpuTimeSpent: Warning = {
  code: "cpu_time_spent",
  message: "The command was ended because it had used up its CPU time",
};
const childOutOfMemory: Warning = {
  code: "child_out_of_memory",
  message: "The kernel ended a process that the command had begun for want of memory",
};

async function writeAll(stdin: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(bytes);
    await writer.close();
  } catch {
    // The command closed its end: what it does not read is no error.
  }
}

/** A working directory that has gone since the plan was made shows as anything: a missing command, a file that cannot be written. */
function explainFailure(error: unknown, workingDir: string): unknown {
  const stats = statOf(workingDir);
  if (stats?.isDirectory()) return error;
  const code = stats === null ? "working_dir_not_found" : "working_dir_not_a_directory";
  const what = stats === null ? "not found" : "is not a directory";
  return new RuntimeError(code, `Working directory ${what}: ${workingDir}`, { backend: "native", cause: error });
}

function spawnError(error: unknown, command: string): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const code = error instanceof Error && "code" in error ? error.code : null;
  const options = { backend: "native", cause: error };
  switch (code) {
    case "ENOENT":
      return new RuntimeError(
        "command_not_found",
        `Command not found: ${command} went away before it could be started`,
        options,
      );
    case "EACCES":
    case "ENOEXEC":
    case "EPERM":
      return new RuntimeError("not_executable", `Command cannot be executed: ${command}: ${messageOf(error)}`, options);
    case "E2BIG":
      return new RuntimeError(
        "argument_list_too_long",
        "Arguments and environment together are longer than the system takes: pass them by stdin or as a file",
        options,
      );
    default:
      return new RuntimeError("start_failed", `Command ${command} could not be started: ${messageOf(error)}`, options);
  }
}

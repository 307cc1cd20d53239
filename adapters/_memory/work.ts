/** One execution in a world: placed, run, ended, brought out and removed, in that order and without any adapter. */

import { RuntimeError } from "../../src/errors.ts";
import { ProgressFeed } from "../../src/progress-feed.ts";
import type {
  CollectedFile,
  ExecutionPlan,
  ExecutionRef,
  Exit,
  Leftover,
  LostCause,
  StartIo,
} from "../../src/types.ts";
import { BrokenPipe, type ByteLog, createByteLog } from "./byte-log.ts";
import type { MemoryClock } from "./clock.ts";
import type { MemoryFiles } from "./file-tree.ts";
import { type MemoryPlace, place } from "./place.ts";
import type { MemoryProgram, RunningProcess } from "./process.ts";
import { createProcessTree, outOfMemory, type ProcessTree } from "./process-tree.ts";
import { bringIn, bringOut } from "./transfer.ts";

const windowBytes = 64 * 1024;

/** What a work is made of. */
export interface WorkOptions {
  readonly plan: ExecutionPlan;
  readonly io: StartIo;
  readonly program: MemoryProgram;
  readonly place: MemoryPlace;
  readonly files: MemoryFiles;
  readonly clock: MemoryClock;
  readonly retainBytes: number;
  readonly separateStderr: boolean;
  readonly resumable: boolean;
  /** `true`: it was placed ahead of time. */
  readonly prepared: boolean;
}

/** Running work. Every promise but `ended` never rejects. */
export interface MemoryWork {
  readonly ref: ExecutionRef;
  readonly plan: ExecutionPlan;
  readonly processes: readonly RunningProcess[];
  readonly progress: ProgressFeed;
  readonly stdin: ByteLog;
  readonly stdout: ByteLog;
  readonly stderr: ByteLog;
  readonly ended: Promise<Exit>;
  readonly outputs: Promise<readonly CollectedFile[]>;
  readonly released: Promise<readonly Leftover[]>;
  /** Politely, and after the grace period by force. */
  stop(): void;
  lose(cause: LostCause): void;
  exhaustMemory(): void;
}

/** The parts of a work that its steps pass on. */
interface Parts {
  readonly options: WorkOptions;
  readonly workingDir: string;
  readonly tree: ProcessTree;
  readonly progress: ProgressFeed;
  readonly stdin: ByteLog;
  readonly stopping: AbortSignal;
}

export function createWork(options: WorkOptions): MemoryWork {
  const { plan, clock, files } = options;
  const workingDir = plan.workingDir ?? `/run/${plan.id}`;
  const stdin: ByteLog = createByteLog({
    windowBytes,
    retainBytes: 0,
    readerGone: () => stdin.breakOff(new BrokenPipe("The command has closed its stdin")),
  });
  const stdout = outputLog(options);
  const stderr = outputLog(options);
  if (!options.separateStderr) stderr.end();
  const seen = { stdout, stderr: options.separateStderr ? stderr : stdout };
  const tree = createProcessTree({ plan, workingDir, files, clock, ...seen });
  const progress = new ProgressFeed();
  const stopping = new AbortController();
  const ended = run({ options, workingDir, tree, progress, stdin, stopping: stopping.signal });
  const outputs = Promise.withResolvers<readonly CollectedFile[]>();

  async function release(): Promise<readonly Leftover[]> {
    const began = await ended.then(
      () => true,
      () => false,
    );
    progress.end();
    stdin.breakOff(new BrokenPipe("The command is over"));
    await tree.stop();
    stdout.end();
    stderr.end();
    outputs.resolve(began ? bringOut(files, workingDir, plan.outputs) : []);
    if (plan.workingDir === null) files.remove(workingDir);
    await clock.pause(options.place.slowReleaseMs ?? 0);
    return options.place.leftovers ?? [];
  }

  return {
    ref: { backend: plan.backend, id: plan.id, owner: plan.owner, handle: plan.id },
    ...{ plan, processes: tree.processes, progress, stdin, stdout, stderr },
    ...{ ended, outputs: outputs.promise, released: release() },
    stop() {
      if (stopping.signal.aborted) return;
      stopping.abort(cancelled(plan));
      if (tree.processes.length > 0) void tree.stop();
    },
    lose: (cause) => tree.endAll({ kind: "lost", cause }),
    exhaustMemory: () => tree.endAll(outOfMemory),
  };
}

function outputLog({ resumable, retainBytes }: WorkOptions): ByteLog {
  const log: ByteLog = createByteLog({
    windowBytes,
    retainBytes: resumable ? retainBytes : 0,
    // Where work outlives its reader, another one may come; where it does not, this is a closed pipe.
    readerGone: () => resumable || log.breakOff(new BrokenPipe("Nobody reads any more")),
  });
  return log;
}

/** From the queue to the command's end. Rejects when it never began. */
async function run({ options, workingDir, tree, progress, stdin, stopping }: Parts): Promise<Exit> {
  const { plan, clock, files, io } = options;
  if (!options.prepared) await place(options.place, { plan, clock, progress, signal: stopping });
  if (stopping.aborted) throw cancelled(plan);
  if (files.open || plan.workingDir === null) files.makeDirectory(workingDir);
  bringIn(files, workingDir, { plan, io });
  progress.end();
  const begun = clock.now();
  const main = tree.run(options.program, plan.argv, stdin);
  if (plan.stdin !== "stream") void feed(stdin, io.stdin);
  if (options.place.loss !== undefined) void loseLater(options.place.loss, { main, tree, clock });
  const kind = await main.ended;
  return { ...kind, durationMs: clock.now() - begun };
}

async function feed(stdin: ByteLog, bytes: Uint8Array | undefined): Promise<void> {
  // A command that does not read it all is no error.
  if (bytes !== undefined) await stdin.append(bytes).catch(() => {});
  stdin.end();
}

async function loseLater(
  loss: NonNullable<MemoryPlace["loss"]>,
  { main, tree, clock }: { main: RunningProcess; tree: ProcessTree; clock: MemoryClock },
): Promise<void> {
  const early = new AbortController();
  void main.ended.then(() => early.abort());
  await clock.pause(loss.afterMs, early.signal).then(
    () => tree.endAll({ kind: "lost", cause: loss.cause }),
    () => {},
  );
}

function cancelled(plan: ExecutionPlan): RuntimeError {
  return new RuntimeError("cancelled_before_start", "The command was cancelled before it began", {
    backend: plan.backend,
  });
}

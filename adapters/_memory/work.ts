/** One execution in a world: placed, run, ended, brought out and removed, in that order and without any adapter. */

import { RuntimeError } from "../../src/errors.ts";
import type {
  CollectedFile,
  ExecutionPlan,
  ExecutionRef,
  Exit,
  ExitKind,
  Leftover,
  LostCause,
  StartIo,
} from "../../src/types.ts";
import { BrokenPipe, type ByteLog, createByteLog } from "./byte-log.ts";
import type { MemoryClock } from "./clock.ts";
import type { MemoryFiles } from "./file-tree.ts";
import { type MemoryPlace, ProgressFeed, place } from "./place.ts";
import { type MemoryProgram, type RunningProcess, runProcess, signaled } from "./process.ts";
import { bringIn, bringOut } from "./transfer.ts";

const outputWindowBytes = 64 * 1024;

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

export function createWork(options: WorkOptions): MemoryWork {
  const { plan, clock, files } = options;
  const workingDir = plan.workingDir ?? `/run/${plan.id}`;
  const processes: RunningProcess[] = [];
  const progress = new ProgressFeed();
  const ended = Promise.withResolvers<Exit>();
  const outputs = Promise.withResolvers<readonly CollectedFile[]>();
  const released = Promise.withResolvers<readonly Leftover[]>();
  const stopping = new AbortController();
  const over = new AbortController();
  let taken = 0;

  const stdin: ByteLog = createByteLog({
    windowBytes: outputWindowBytes,
    retainBytes: 0,
    readerGone: () => stdin.breakOff(new BrokenPipe("The command has closed its stdin")),
  });
  const output = (): ByteLog => {
    const log: ByteLog = createByteLog({
      windowBytes: outputWindowBytes,
      retainBytes: options.resumable ? options.retainBytes : 0,
      // Where work outlives its reader, another one may come; where it does not, this is a closed pipe.
      readerGone: () => options.resumable || log.breakOff(new BrokenPipe("Nobody reads any more")),
    });
    return log;
  };
  const stdout = output();
  const stderr = output();
  if (!options.separateStderr) stderr.end();

  function run(program: MemoryProgram, argv: readonly [string, ...string[]], input: ByteLog): RunningProcess {
    const process = runProcess(
      {
        ...{ env: plan.env, workingDir, files, clock, stdout, stdin: input },
        stderr: options.separateStderr ? stderr : stdout,
        spawn: (childProgram, childArgv) => void run(childProgram, childArgv, emptyInput()),
        allocate(bytes) {
          taken += bytes;
          if (taken > (plan.limits.memoryBytes ?? Number.MAX_SAFE_INTEGER))
            endAll({ kind: "out_of_memory", number: 9 });
        },
      },
      program,
      argv,
    );
    processes.push(process);
    if (over.signal.aborted) process.end(signaled("SIGKILL"));
    return process;
  }

  function endAll(kind: ExitKind): void {
    for (const process of processes) process.end(kind);
  }

  /** TERM, the grace period, KILL: until no process is left. */
  async function endTree(): Promise<void> {
    const gone = Promise.all(processes.map(({ ended: end }) => end));
    for (const process of processes) process.terminate();
    if (processes.some((process) => !process.over)) {
      const early = new AbortController();
      void gone.then(() => early.abort());
      await clock.pause(plan.limits.killGraceMs, early.signal).catch(() => {});
    }
    over.abort();
    endAll(signaled("SIGKILL"));
  }

  async function feedStdin(): Promise<void> {
    if (plan.stdin === "stream") return;
    await stdin.append(options.io.stdin ?? new Uint8Array()).catch(() => {});
    stdin.end();
  }

  async function live(): Promise<Exit> {
    if (!options.prepared) await place(options.place, { plan, clock, progress, signal: stopping.signal });
    if (stopping.signal.aborted) throw cancelled(plan);
    if (files.open || plan.workingDir === null) files.makeDirectory(workingDir);
    bringIn(files, workingDir, { plan, io: options.io });
    progress.end();
    const begun = clock.now();
    const main = run(options.program, plan.argv, stdin);
    void feedStdin();
    if (options.place.loss !== undefined) void loseLater(options.place.loss, main);
    const kind = await main.ended;
    return { ...kind, durationMs: clock.now() - begun };
  }

  async function loseLater(loss: { afterMs: number; cause: LostCause }, main: RunningProcess): Promise<void> {
    const early = new AbortController();
    void main.ended.then(() => early.abort());
    await clock.pause(loss.afterMs, early.signal).then(
      () => endAll({ kind: "lost", cause: loss.cause }),
      () => {},
    );
  }

  async function conclude(): Promise<void> {
    const began = await live().then(
      (exit) => {
        ended.resolve(exit);
        return true;
      },
      (error: unknown) => {
        ended.reject(error);
        return false;
      },
    );
    progress.end();
    stdin.breakOff(new BrokenPipe("The command is over"));
    await endTree();
    stdout.end();
    stderr.end();
    outputs.resolve(began ? bringOut(files, workingDir, plan.outputs) : []);
    if (plan.workingDir === null) files.remove(workingDir);
    await clock.pause(options.place.slowReleaseMs ?? 0);
    released.resolve(options.place.leftovers ?? []);
  }

  ended.promise.catch(() => {});
  void conclude();

  return {
    ref: { backend: plan.backend, id: plan.id, owner: plan.owner, handle: plan.id },
    ...{ plan, processes, progress, stdin, stdout, stderr },
    ...{ ended: ended.promise, outputs: outputs.promise, released: released.promise },
    stop() {
      if (stopping.signal.aborted) return;
      stopping.abort(cancelled(plan));
      if (processes.length > 0) void endTree();
    },
    lose: (cause) => endAll({ kind: "lost", cause }),
    exhaustMemory: () => endAll({ kind: "out_of_memory", number: 9 }),
  };
}

function cancelled(plan: ExecutionPlan): RuntimeError {
  return new RuntimeError("cancelled_before_start", "The command was cancelled before it began", {
    backend: plan.backend,
  });
}

function emptyInput(): ByteLog {
  const log = createByteLog({ windowBytes: 1, retainBytes: 0 });
  log.end();
  return log;
}

/** Turns running work into a result. The only place where output, deadline and exit meet; the first cause wins. */

import { createDeadline, type Deadline, type StopCause } from "./deadline.ts";
import { asRuntimeError, RuntimeError } from "./errors.ts";
import type { ExecutionOutput, Outcome, Timings } from "./runtime-types.ts";
import { feedStdin, pump, type Sink } from "./streams.ts";
import type { Execution, ExecutionPlan, Exit, Progress, RuntimeAdapter, StartIo, Warning } from "./types.ts";

/** Where the output goes, and what is told on the way. */
export interface Listener {
  readonly stdout: Sink;
  readonly stderr: Sink;
  progress?(step: Progress): void;
  started?(): void;
}

/** One execution to be supervised. */
export interface Job {
  readonly plan: ExecutionPlan;
  readonly adapter: RuntimeAdapter;
  readonly io: StartIo;
  /** The caller's stream, where the plan's stdin is `"stream"`. */
  readonly stdin?: ReadableStream<Uint8Array> | undefined;
  /** Any of them cancels. */
  readonly cancels: readonly AbortSignal[];
  readonly listener: Listener;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

/** How an execution ended: the facts of a result without its output. */
export type Ending = Pick<
  ExecutionOutput,
  "id" | "backend" | "outcome" | "exitCode" | "signal" | "cause" | "files" | "warnings" | "durationMs" | "timings"
>;

/**
 * Runs a plan to its end and waits until everything of it is gone.
 *
 * @throws RuntimeError when the command could not be run at all; `cancelled_before_start` when it was not let.
 */
export async function supervise(job: Job): Promise<Ending> {
  const { plan, adapter, io, cancels, now } = job;
  const deadline = createDeadline(plan.limits.timeoutMs, cancels);
  try {
    if (deadline.signal.aborted) throw cancelledBeforeStart(plan);
    const stdin = job.stdin === undefined ? null : takeReader(job.stdin);
    const requestedAt = now();
    const execution = await adapter.start(plan, io, deadline.signal).catch((error: unknown) => {
      // Nothing of it was read: the caller can give it to another command.
      stdin?.releaseLock();
      throw error;
    });
    // It may reject while the progress is still being read; it is awaited below.
    execution.ended.catch(() => {});
    try {
      return await follow(job, { execution, deadline, requestedAt, stdin });
    } catch (error) {
      await letGo(execution, deadline);
      throw error;
    }
  } catch (error) {
    if (deadline.settle() === "cancelled" && !(error instanceof RuntimeError && error.started !== "no")) {
      throw cancelledBeforeStart(plan, error);
    }
    throw asRuntimeError(error, { backend: plan.backend, started: "maybe" });
  } finally {
    deadline.settle();
  }
}

/** Before anything runs: a stream that somebody else has begun to read meanwhile cannot be handed on. */
function takeReader(source: ReadableStream<Uint8Array>): ReadableStreamDefaultReader<Uint8Array> {
  try {
    return source.getReader();
  } catch (cause) {
    const message = "Option stdin is a stream that is already being read: give each command one of its own";
    throw new RuntimeError("invalid_request", message, { cause });
  }
}

/** Nothing that was begun outlives the answer, whatever went wrong. */
async function letGo({ ended, stdout, stderr, released }: Execution, deadline: Deadline): Promise<void> {
  deadline.giveUp();
  // A stream that is being read is let go of by its reader.
  const streams = [stdout, stderr].filter(({ locked }) => !locked).map((stream) => stream.cancel());
  await Promise.allSettled([ended, ...streams, released]);
}

interface Running {
  readonly execution: Execution;
  readonly deadline: Deadline;
  readonly requestedAt: number;
  readonly stdin: ReadableStreamDefaultReader<Uint8Array> | null;
}

async function follow(job: Job, { execution, deadline, requestedAt, stdin: source }: Running): Promise<Ending> {
  const { plan, listener, now } = job;
  const timings = await readProgress(execution.progress, { listener, now, since: requestedAt });
  deadline.arm();
  const startedAt = now();
  listener.started?.();
  const warnings: Warning[] = [];
  const pumps = [pump(execution.stdout, listener.stdout), pump(execution.stderr, listener.stderr)];
  const stdin = source !== null && execution.stdin ? feedStdin(source, execution.stdin) : null;
  // Input that broke off must not pass for the whole of it.
  stdin?.failed.then((message) => {
    warnings.push({ code: "stdin_failed", message });
    deadline.stop("cancelled");
  });
  let exit: Exit;
  try {
    exit = await execution.ended;
  } catch (error) {
    stdin?.stop();
    await Promise.allSettled([...pumps, execution.released]);
    throw error;
  }
  const durationMs = exit.durationMs ?? now() - startedAt;
  const cause = deadline.settle();
  stdin?.stop();
  for (const broken of await Promise.all(pumps)) {
    if (broken !== null) warnings.push({ code: "output_incomplete", message: `Output broke off: ${broken}` });
  }
  const files: Record<string, Uint8Array> = Object.create(null);
  for (const file of await execution.outputs) {
    if ("bytes" in file) files[file.path] = file.bytes;
    else warnings.push({ code: "output_missing", message: `Output ${file.path} was not brought out: ${file.missing}` });
  }
  for (const { kind, name, reason } of await execution.released) {
    warnings.push({ code: "left_behind", message: `Left behind: ${kind} ${name}: ${reason}` });
  }
  warnings.push(...((await execution.findings) ?? []));
  return {
    id: plan.id,
    backend: plan.backend,
    ...conclude(exit, cause),
    files,
    warnings: [...(exit.warnings ?? []), ...warnings],
    durationMs,
    timings,
  };
}

/** The outcome: why it was stopped, if it was before it ended; else how it ended. */
export function conclude(
  exit: Exit,
  stopped: StopCause | null,
): Pick<ExecutionOutput, "outcome" | "exitCode" | "signal" | "cause"> {
  const outcome = (own: Outcome): Outcome => stopped ?? own;
  switch (exit.kind) {
    case "exited":
      return { outcome: outcome("completed"), exitCode: exit.code, signal: null, cause: null };
    case "signaled": {
      const exitCode = exit.number === null ? null : 128 + exit.number;
      return { outcome: outcome("completed"), exitCode, signal: exit.signal, cause: null };
    }
    case "out_of_memory": {
      const exitCode = exit.number === null ? null : 128 + exit.number;
      return { outcome: outcome("out_of_memory"), exitCode, signal: exit.number === 9 ? "SIGKILL" : null, cause: null };
    }
    case "lost":
      return { outcome: outcome("lost"), exitCode: null, signal: null, cause: stopped === null ? exit.cause : null };
  }
}

async function readProgress(
  progress: AsyncIterable<Progress>,
  { listener, now, since }: { listener: Listener; now: () => number; since: number },
): Promise<Timings> {
  const timings = { queueMs: 0, pullMs: 0, startMs: 0 };
  const parts = { queue: "queueMs", schedule: "queueMs", pull: "pullMs", start: "startMs" } as const;
  let current: keyof Timings = "startMs";
  let at = since;
  const turn = (next: keyof Timings) => {
    const time = now();
    timings[current] += time - at;
    current = next;
    at = time;
  };
  try {
    for await (const step of progress) {
      turn(parts[step.phase]);
      listener.progress?.(step);
    }
  } catch {
    // What is told on the way is news of the work, not the work: what becomes of it, its end says.
  }
  turn(current);
  return timings;
}

function cancelledBeforeStart(plan: ExecutionPlan, cause?: unknown): RuntimeError {
  return new RuntimeError("cancelled_before_start", "Cancelled before the command had begun", {
    backend: plan.backend,
    cause,
  });
}

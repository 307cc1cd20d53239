/** An execution as events: pulled one by one, and cancelled when the reader leaves. */

import { createEventQueue } from "./event-queue.ts";
import type { ExecutionEvent, ExecutionOutput } from "./runtime-types.ts";
import type { Ending, Listener } from "./supervise.ts";
import type { BackendName, Progress } from "./types.ts";

/** A {@link Listener} that is told which execution has begun. */
export type StreamListener = Omit<Listener, "started"> & {
  started?(begun: { readonly id: string; readonly backend: BackendName }): void;
};

/**
 * Starts the execution at the first `next()`; aborts `left` when the reader leaves before the end.
 *
 * @param closing from then on no reader is waited for: output that comes later is dropped, and the last event says so
 */
export function streamEvents(
  run: (listener: StreamListener, left: AbortSignal) => Promise<Ending>,
  closing?: AbortSignal,
): AsyncIterableIterator<ExecutionEvent> {
  const queue = createEventQueue<ExecutionEvent>();
  const left = new AbortController();
  const totals = { stdout: 0, stderr: 0 };
  let dropped = 0;
  let running: Promise<void> | null = null;
  const release = () => queue.release();

  const pass = (type: "stdout" | "stderr") => (data: Uint8Array) => {
    totals[type] += data.byteLength;
    if (closing?.aborted) {
      dropped += data.byteLength;
      return;
    }
    return queue.push({ type, data });
  };
  const listener: StreamListener = {
    stdout: pass("stdout"),
    stderr: pass("stderr"),
    progress: (step: Progress) => void queue.push({ type: "progress", ...step }),
    started: (begun) => void queue.push({ type: "started", ...begun }),
  };
  const start = async () => {
    closing?.addEventListener("abort", release, { once: true });
    try {
      const ending = await run(listener, left.signal);
      queue.push({ type: "finished", output: finished(dropped === 0 ? ending : cutShort(ending, dropped), totals) });
      queue.end();
    } catch (error) {
      queue.end(error);
    } finally {
      closing?.removeEventListener("abort", release);
    }
  };
  const leave = async (): Promise<IteratorResult<ExecutionEvent>> => {
    queue.abandon();
    left.abort();
    // A reader that left may count on the command being gone.
    await running;
    return { done: true, value: undefined };
  };
  return {
    next: async () => {
      if (!left.signal.aborted) running ??= start();
      const event = await queue.take();
      return event === undefined ? { done: true, value: undefined } : { done: false, value: event };
    },
    return: leave,
    throw: async (error) => {
      await leave();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function cutShort(ending: Ending, dropped: number): Ending {
  const message = `The runtime was closed before ${dropped} bytes of output were taken: they are dropped`;
  return { ...ending, warnings: [...ending.warnings, { code: "output_incomplete", message }] };
}

/** Everything was handed on, so nothing is kept and nothing was cut. */
function finished(ending: Ending, totals: { readonly stdout: number; readonly stderr: number }): ExecutionOutput {
  const none = new Uint8Array(0);
  return {
    ...ending,
    stdout: "",
    stderr: "",
    stdoutBytes: none,
    stderrBytes: none,
    stdoutTruncated: false,
    stderrTruncated: false,
    stdoutTotalBytes: totals.stdout,
    stderrTotalBytes: totals.stderr,
  };
}

/** An adapter's view of a work: its streams from given offsets, its endings, and the signal that stops it. */

import type { Capabilities, Execution, ExecutionRef, Exit, Offsets } from "../../src/types.ts";
import type { ByteLog } from "./byte-log.ts";
import type { MemoryWork } from "./work.ts";

interface View {
  readonly signal: AbortSignal;
  readonly from: Offsets;
  readonly capabilities: Capabilities;
}

export function execution(work: MemoryWork, { signal, from, capabilities }: View): Execution {
  const stop = (): void => work.stop();
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  void work.released.then(() => signal.removeEventListener("abort", stop));
  const told = work.ended.then((exit) => tell(exit, capabilities));
  told.catch(() => {});
  return {
    ref: work.ref,
    stdout: work.stdout.read(from.stdout),
    stderr: work.stderr.read(from.stderr),
    ...(work.plan.stdin === "stream" ? { stdin: sinkOf(work.stdin) } : {}),
    progress: work.progress,
    ended: told,
    outputs: work.outputs,
    released: work.released,
  };
}

/** A place that only knows numbers tells a signal as 128 + n, and cannot tell it from an exit code. */
function tell(exit: Exit, capabilities: Capabilities): Exit {
  if (exit.kind !== "signaled" || capabilities.reportsSignal) return exit;
  const { durationMs } = exit;
  return { kind: "exited", code: 128 + (exit.number ?? 0), ...(durationMs === undefined ? {} : { durationMs }) };
}

function sinkOf(log: ByteLog): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    write: (chunk) => log.append(chunk),
    close: () => log.end(),
    // A writer that gives up leaves the command with an end of file, as a closed pipe does.
    abort: () => log.end(),
  });
}

/** What is left of an execution that nobody knows any more. */
export function lostExecution(ref: ExecutionRef): Execution {
  const nothing = (): ReadableStream<Uint8Array> => new ReadableStream({ start: (controller) => controller.close() });
  return {
    ref,
    stdout: nothing(),
    stderr: nothing(),
    progress: (async function* () {})(),
    ended: Promise.resolve({ kind: "lost", cause: "deleted" }),
    outputs: Promise.resolve([]),
    released: Promise.resolve([]),
  };
}

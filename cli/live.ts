/** Hands on what a command writes, as it comes and byte for byte. */

import type { ExecutionEvent, ExecutionOutput } from "../src/runtime-types.ts";
import type { Interrupts } from "./interrupts.ts";
import type { Output } from "./output.ts";
import { createProgressLine } from "./progress-line.ts";

export interface LiveOptions {
  readonly out: Output;
  readonly err: Output;
  readonly interrupts: Interrupts;
  /** No progress is shown. */
  readonly quiet: boolean;
}

/** How it ended. */
export interface LiveEnd {
  readonly output: ExecutionOutput;
  /** What was written to stderr left a line unfinished. */
  readonly midLine: boolean;
}

/**
 * Leaving before the end, whatever the reason, cancels the command and waits until it is gone.
 *
 * @throws ReaderLeft when nobody reads any more.
 */
export async function runLive(
  events: AsyncIterableIterator<ExecutionEvent>,
  { out, err, interrupts, quiet }: LiveOptions,
): Promise<LiveEnd> {
  const progress = createProgressLine(err, { quiet });
  const newline = 0x0a;
  let last = newline;
  try {
    for await (const event of events) {
      switch (event.type) {
        case "progress":
          progress.show(event);
          break;
        case "started":
          await progress.clear();
          break;
        case "stdout":
          await interrupts.orStuck(out.write(event.data));
          break;
        case "stderr":
          last = event.data.at(-1) ?? last;
          await interrupts.orStuck(err.write(event.data));
          break;
        case "finished":
          return { output: event.output, midLine: last !== newline };
      }
    }
  } finally {
    await progress.clear();
  }
  throw new Error("The stream of events ended without its last one");
}

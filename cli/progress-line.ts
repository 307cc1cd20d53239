/** Shows what a start is waiting for: one line that changes on a terminal, a line now and then elsewhere. */

import type { Progress } from "../src/types.ts";
import type { Output } from "./output.ts";

export interface ProgressLine {
  /** What is going on now. A wait that is soon over shows nothing. */
  show(step: Progress): void;
  /** It is over: takes the line away. */
  clear(): Promise<void>;
}

const onTerminal = { firstMs: 200, everyMs: 100 };
const elsewhere = { firstMs: 2000, everyMs: 5000 };

export function createProgressLine(err: Output, { quiet }: { readonly quiet: boolean }): ProgressLine {
  const { firstMs, everyMs } = err.isTerminal ? onTerminal : elsewhere;
  let latest = "";
  let shown = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing = Promise.resolve();

  const write = (text: string) => {
    // Nobody has to read this: what cannot be written is no error.
    writing = writing.then(() => err.write(text)).catch(() => {});
  };
  const tick = () => {
    if (latest !== shown) {
      shown = latest;
      write(err.isTerminal ? `\r\x1b[2K${err.paint("dim", latest.slice(0, err.columns - 1))}` : `${latest}\n`);
    }
    timer = setTimeout(tick, everyMs);
  };
  return {
    show: (step) => {
      if (quiet) return;
      latest = describeStep(step);
      timer ??= setTimeout(tick, firstMs);
    },
    clear: () => {
      clearTimeout(timer);
      timer = undefined;
      if (err.isTerminal && shown !== "") write("\r\x1b[2K");
      shown = "";
      return writing;
    },
  };
}

/** One line without control characters: messages come from daemons and registries. */
export function describeStep({ phase, message, fraction }: Progress): string {
  const percent = fraction === undefined ? "" : ` ${Math.floor(fraction * 100)}%`;
  return `prx-runtime: ${phase}: ${message}${percent}`.replaceAll(/[\x00-\x1f\x7f-\x9f]+/g, " ");
}

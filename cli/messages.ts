/** What the program itself says on stderr, beside what the command writes there. */

import { asRuntimeError, errorCodes } from "../src/errors.ts";
import type { Warning } from "../src/types.ts";
import type { Output } from "./output.ts";

/** The program's voice. What cannot be said because nobody listens is dropped. */
export interface Messages {
  warn(warning: Warning): Promise<void>;
  fail(message: string): Promise<void>;
}

/** `midLine`: the command left a line unfinished, so the first message begins with a new one. */
export function createMessages(
  err: Output,
  { quiet = false, midLine = false }: { readonly quiet?: boolean; readonly midLine?: boolean } = {},
): Messages {
  let isMidLine = midLine;
  const say = async (text: string) => {
    const start = isMidLine ? "\n" : "";
    isMidLine = false;
    await err.write(`${start}prx-runtime: ${text}\n`).catch(() => {});
  };
  return {
    warn: async ({ message }) => {
      if (!quiet) await say(`${err.paint("yellow", "warning:")} ${err.paint("dim", visible(message, ""))}`);
    },
    fail: (message) => say(visible(message, "\n\t")),
  };
}

/** A message can name what a command has named: that is not to move a cursor, nor to pass for a line of this program. */
function visible(text: string, meant: string): string {
  return text.replace(/\p{Cc}/gu, (control) =>
    meant.includes(control) ? control : `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** An error as the program tells it, and what it exits with. */
export interface Failure {
  readonly exitCode: number;
  readonly message: string;
  /** For `--json`. */
  readonly json: { readonly error: unknown };
}

export function describeFailure(thrown: unknown): Failure {
  const error = asRuntimeError(thrown);
  return { exitCode: errorCodes[error.code].exit, message: error.message, json: { error: error.toJSON() } };
}

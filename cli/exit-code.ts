/** What the program exits with after a command that ran. */

import type { ExecutionOutput } from "../src/runtime-types.ts";

/** As timeout(1) does. */
export const timedOutExit = 124;
/** How it ended is not known; docker and timeout(1) say so of their own failures. */
export const lostExit = 125;
/** As a program that SIGPIPE ended. */
export const readerLeftExit = 141;
/** EX_IOERR of sysexits(3): a file could not be read or written. */
export const inputOutputExit = 74;

/** `interrupted` is what a signal to this program asks for, or `null`. Never 0 for an end that is not known. */
export function exitCodeOf(
  { outcome, exitCode }: Pick<ExecutionOutput, "outcome" | "exitCode">,
  interrupted: number | null,
): number {
  switch (outcome) {
    case "completed":
      return exitCode ?? lostExit;
    case "timed_out":
      return timedOutExit;
    case "cancelled":
      // Without a signal it was its stdin that broke off.
      return interrupted ?? inputOutputExit;
    case "out_of_memory":
      return exitCode ?? 137;
    case "lost":
      return lostExit;
  }
}

/** Why the command has no ending of its own, for stderr; `null` where it has one. */
export function describeOutcome({ outcome, cause, durationMs }: ExecutionOutput): string | null {
  switch (outcome) {
    case "completed":
      return null;
    case "timed_out":
      return `Timed out after ${formatSeconds(durationMs)}: give --timeout more time, or 0 for no limit`;
    case "cancelled":
      return null;
    case "out_of_memory":
      return "Out of memory: the command was ended; allow it more, or let it need less";
    case "lost":
      return `The command was lost (${cause ?? "unknown"}): whether it came to its end is not known`;
  }
}

export function formatSeconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** What a fixture program is: one small behaviour as a POSIX shell script, and the same behaviour as a JavaScript twin. */

import type { MemoryProgram } from "../../../adapters/memory.ts";

/**
 * One behaviour. The script is run as `sh -c SCRIPT NAME ARGS…` by dash, busybox or bash, with the tools that all of them have;
 * the twin is run by the memory backend.
 */
export interface Fixture {
  readonly name: string;
  readonly script: string;
  readonly twin: MemoryProgram;
}

/** Argument `index`, counted as in a shell: 1 is the first. */
export function argument(process: { readonly argv: readonly string[] }, index: number): string {
  return process.argv[index] ?? "";
}

/** Argument `index` as a number. */
export function count(process: { readonly argv: readonly string[] }, index: number): number {
  return Number(argument(process, index));
}

/** Goes on until the process is over. */
export const forever = Number.POSITIVE_INFINITY;

/** What a fixture waits on in the background. */
export const sleeper: MemoryProgram = ({ sleep }) => sleep(forever);

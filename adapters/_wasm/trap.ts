/** Pure: a guest that ended by a trap, and whether for want of memory. */

import type { ExitKind, Warning } from "../../src/types.ts";

/** As of a program that aborts: 128 and the number of SIGABRT. */
const abortNumber = 6;
/** As of a process that the kernel ends for want of memory. */
const killNumber = 9;

/** What allocators say when there is no more: Rust's, Go's, Emscripten's and C++'s. */
const wantOfMemory =
  /memory allocation of \d+ bytes failed|out of memory|cannot enlarge memory|std::bad_alloc|forcing trap when growing memory/i;

/** The guest, or its engine, gave up for want of memory. */
export const outOfMemory: ExitKind = { kind: "out_of_memory", number: killNumber };

/**
 * @example
 * ```ts
 * trapped("unreachable", "memory allocation of 64 bytes failed").kind; // → "out_of_memory"
 * ```
 * @param what the engine's words for the trap
 * @param lastWords the end of stderr, where guests tell why they gave up. A guest that lies there says it of itself.
 */
export function trapped(what: string, lastWords: string): ExitKind & { readonly warnings?: readonly Warning[] } {
  if (wantOfMemory.test(lastWords)) return outOfMemory;
  const message = `The guest was ended by a trap: ${what}`;
  return { kind: "exited", code: 128 + abortNumber, warnings: [{ code: "trapped", message }] };
}

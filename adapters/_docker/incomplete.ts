/** What of a directory could not be copied, told in a few warnings however much it is. */

import type { Warning } from "../../src/types.ts";

/** How many paths are told by name. */
const mostTold = 20;

/**
 * @param failures the reasons, by path: a name is its maker's, and is quoted
 * @param copied in words, as `copied back`
 */
export function tellIncomplete(failures: ReadonlyMap<string, string>, copied: string): readonly Warning[] {
  const code = "workspace_incomplete";
  const told = [...failures].slice(0, mostTold).map(([path, reason]) => ({
    code,
    message: `${JSON.stringify(path)} was not ${copied}: ${reason}`,
  }));
  const more = failures.size - told.length;
  return more === 0 ? told : [...told, { code, message: `${more} more were not ${copied}` }];
}

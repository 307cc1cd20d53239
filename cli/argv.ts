/** Looks whether the runtime gave us the words as they were written. */

import { readFileSync } from "node:fs";
import { RuntimeError } from "../src/errors.ts";

const replacement = "\uFFFD";

/**
 * Runtimes decode arguments as UTF-8 and put U+FFFD in the place of what is none. Such a word would reach the command as
 * another one, so it is refused.
 *
 * @throws RuntimeError `invalid_request`
 */
export function checkWords(words: readonly string[]): void {
  const suspects = words.filter((word) => word.includes(replacement));
  if (suspects.length === 0) return;
  const written = rawWords();
  for (const word of suspects) {
    if (written === null || written.has(Buffer.from(word).toString("latin1"))) continue;
    throw new RuntimeError(
      "invalid_request",
      `Argument ${JSON.stringify(word)} is not UTF-8: the JavaScript runtime cannot pass it on as it is, give it by stdin or in a file`,
    );
  }
}

/** This process's arguments byte for byte, as latin-1; `null` where the system does not tell. */
function rawWords(): ReadonlySet<string> | null {
  try {
    return new Set(readFileSync("/proc/self/cmdline").toString("latin1").split("\0"));
  } catch {
    return null;
  }
}

/** Durations as people type them. */

import { RuntimeError } from "../src/errors.ts";
import { secondsToMs } from "../src/units.ts";

const pattern = /^(\d{1,15}(?:\.\d{1,15})?)(ms|s|m|h)?$/;
const secondsOf: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/**
 * Reads `500ms`, `2s`, `1.5m` or `1h`; a plain number counts seconds. 0 is none.
 *
 * @returns Whole milliseconds; what is more than 0 stays more than 0.
 * @throws RuntimeError `invalid_request`, naming `what`.
 */
export function parseDuration(text: string, what: string): number {
  const [, number, unit = "s"] = pattern.exec(text) ?? [];
  const seconds = Number(number) * (secondsOf[unit] ?? 1);
  try {
    return secondsToMs(seconds);
  } catch (cause) {
    throw new RuntimeError(
      "invalid_request",
      `${what} is ${JSON.stringify(text)}: give a duration such as 500ms, 2s, 1.5m or 1h, or a number of seconds`,
      { cause },
    );
  }
}

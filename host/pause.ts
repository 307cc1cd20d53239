/** Waiting for what has no event. */

import { setImmediate } from "node:timers/promises";

/** The longest delay that `setTimeout` takes; a longer one fires at once on every runtime. */
export const longestTimerMs = 2 ** 31 - 1;

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Until everything else that is ready has had its turn. */
export function yieldToOthers(): Promise<void> {
  return setImmediate();
}

/** Waiting for what has no event. */

import { setImmediate } from "node:timers/promises";

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Until everything else that is ready has had its turn. */
export function yieldToOthers(): Promise<void> {
  return setImmediate();
}

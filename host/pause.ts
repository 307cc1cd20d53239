/** Waiting for what has no event. */

import { setImmediate } from "node:timers/promises";

/** The longest delay that `setTimeout` takes; a longer one fires at once on every runtime. */
export const longestTimerMs = 2 ** 31 - 1;

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Whether a promise is settled before so much time is over. */
export async function soonest(settled: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, milliseconds, false);
  });
  const yes = () => true;
  try {
    return await Promise.race([settled.then(yes, yes), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Until everything else that is ready has had its turn. */
export function yieldToOthers(): Promise<void> {
  return setImmediate();
}

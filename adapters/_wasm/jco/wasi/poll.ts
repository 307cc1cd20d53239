/** `wasi:io/poll`: waiting for the first of several things, in one thread. */

import { sleep } from "./sleep.ts";

/** One thing that is waited for. */
export class Pollable {
  readonly #isReady: () => boolean;
  /** By `hrtime`, where it is known when this will be ready. */
  readonly at: bigint | null;

  constructor(isReady: () => boolean, at: bigint | null = null) {
    this.#isReady = isReady;
    this.at = at;
  }

  ready(): boolean {
    return this.#isReady();
  }

  block(): void {
    poll([this]);
  }
}

export const always = (): Pollable => new Pollable(() => true);

export function pollableAt(time: bigint): Pollable {
  return new Pollable(() => process.hrtime.bigint() >= time, time);
}

/** For how long one looks away from what tells nothing by itself. */
const shortestMs = 0.2;
const longestMs = 10;

/** Answers the places of all that are ready, once one is. */
export function poll(pollables: readonly Pollable[]): Uint32Array {
  const times = pollables.flatMap(({ at }) => (at === null ? [] : [at]));
  const first = times.reduce<bigint | null>((least, time) => (least === null || time < least ? time : least), null);
  const onlyTimes = times.length === pollables.length;
  for (let pause = shortestMs; ; pause = Math.min(pause * 2, longestMs)) {
    const ready = pollables.flatMap((pollable, index) => (pollable.ready() ? [index] : []));
    if (ready.length > 0) return Uint32Array.from(ready);
    const left = first === null ? Number.POSITIVE_INFINITY : Number(first - process.hrtime.bigint()) / 1e6;
    // Longer than a timer can be, and what the guest waits for may be years away.
    sleep(Math.min(onlyTimes ? Math.min(left, 2 ** 30) : Math.min(left, pause)));
  }
}

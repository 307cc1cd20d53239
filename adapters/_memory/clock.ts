/** Timers that know who waits for them: each is cleared by the end of its wait, and the living ones are counted. */

/** The longest delay that `setTimeout` keeps; above it a timer fires at once. */
const longestDelayMs = 2 ** 31 - 1;

/** Waits that can be counted, so that a test can claim that none was left behind. */
export interface MemoryClock {
  /** Timers that are running now. */
  readonly waiting: number;
  /** Milliseconds by a clock that never steps. */
  now(): number;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. `Infinity` waits for the signal alone. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
}

export function createClock(): MemoryClock {
  let waiting = 0;

  function pause(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const until = performance.now() + ms;
      let timer: ReturnType<typeof setTimeout>;
      const finish = (settle: () => void): void => {
        waiting -= 1;
        clearTimeout(timer);
        signal?.removeEventListener("abort", abandon);
        settle();
      };
      const abandon = (): void => finish(() => reject(signal?.reason));
      const arm = (): void => {
        const left = Math.max(0, until - performance.now());
        timer = setTimeout(left > longestDelayMs ? arm : () => finish(resolve), Math.min(left, longestDelayMs));
      };
      waiting += 1;
      signal?.addEventListener("abort", abandon);
      arm();
    });
  }

  return {
    get waiting() {
      return waiting;
    },
    now: () => performance.now(),
    pause,
  };
}

/** What SIGINT, SIGTERM and SIGHUP do: the first cancels and waits, a second one no longer waits for whoever reads the output. */

import { constants } from "node:os";
import process from "node:process";
import { RuntimeError } from "../src/errors.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** How long an output may be stuck after an interrupt. */
const patienceMs = 1000;

/** An interrupt found the output stuck: the rest of it is given up. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** The interrupts of this process, until {@link Interrupts.stop}. */
export interface Interrupts {
  /** Aborts at the first. */
  readonly signal: AbortSignal;
  /** 128 + the first one's number; `null`: there was none. */
  readonly exitCode: number | null;
  /**
   * The same promise; after an interrupt it is not waited for. For work before the command begins.
   *
   * @throws RuntimeError `cancelled_before_start`
   */
  orNever<T>(work: Promise<T>): Promise<T>;
  /**
   * The same promise, waited for unless the output is stuck when it is time to leave. One at a time.
   *
   * @throws Interrupted
   */
  orStuck(write: Promise<void>): Promise<void>;
  stop(): void;
}

/** From now on the process does not end by these signals. */
export function watchInterrupts(): Interrupts {
  const controller = new AbortController();
  let exitCode: number | null = null;
  let insisted = false;
  let giveUp: (() => void) | null = null;
  let timer: ReturnType<typeof setInterval> | undefined;

  const watchStuckWrites = () => {
    let seen: (() => void) | null = null;
    timer = setInterval(() => {
      if (giveUp !== null && giveUp === seen) giveUp();
      seen = giveUp;
    }, patienceMs);
  };
  const onSignal = (name: NodeJS.Signals) => {
    if (exitCode === null) {
      exitCode = 128 + constants.signals[name];
      controller.abort();
      watchStuckWrites();
      return;
    }
    insisted = true;
    giveUp?.();
  };
  for (const name of signals) process.on(name, onSignal);

  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    orNever: (work) =>
      new Promise((resolve, reject) => {
        const leave = () =>
          reject(new RuntimeError("cancelled_before_start", "Cancelled before the command had begun"));
        if (controller.signal.aborted) leave();
        controller.signal.addEventListener("abort", leave, { once: true });
        work.then(resolve, reject).finally(() => controller.signal.removeEventListener("abort", leave));
      }),
    orStuck: async (write) => {
      const left = Promise.withResolvers<void>();
      giveUp = () => left.reject(new Interrupted());
      if (insisted) giveUp();
      write.then(left.resolve, left.reject);
      try {
        await left.promise;
      } finally {
        giveUp = null;
      }
    },
    stop: () => {
      clearInterval(timer);
      for (const name of signals) process.removeListener(name, onSignal);
    },
  };
}

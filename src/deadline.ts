/** Timeout and cancellation of one execution: one signal, one cause, and the first cause wins. */

/** Why a command was asked to stop. */
export type StopCause = "timed_out" | "cancelled";

/** The longest delay that `setTimeout` takes; a longer one fires at once on every runtime. */
const longestTimerMs = 2 ** 31 - 1;

/** The one thing that asks a command to stop. */
export interface Deadline {
  /** Aborts when the command is to stop. */
  readonly signal: AbortSignal;
  /** Starts the clock: the command runs. */
  arm(): void;
  /** Asks to stop. Only the first cause counts, and none after {@link settle}. */
  stop(cause: StopCause): void;
  /** Asks to stop although no cause is left to be told: something went wrong on our side. */
  giveUp(): void;
  /** The command is over: answers why it was asked to stop, or `null`, and lets go of timer and listener. */
  settle(): StopCause | null;
}

/** A deadline of `timeoutMs` (0: none) from {@link Deadline.arm}, cut short by any of `cancels`. */
export function createDeadline(timeoutMs: number, cancels: readonly AbortSignal[] = []): Deadline {
  const controller = new AbortController();
  let cause: StopCause | null = null;
  let settled = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const stop = (why: StopCause) => {
    if (settled || cause !== null) return;
    cause = why;
    controller.abort(new DOMException(why === "timed_out" ? "The time limit is over" : "Cancelled", "AbortError"));
  };
  const onCancel = () => stop("cancelled");
  const wait = (remainingMs: number) => {
    const step = Math.min(remainingMs, longestTimerMs);
    timer = setTimeout(() => (remainingMs > step ? wait(remainingMs - step) : stop("timed_out")), step);
  };

  for (const cancel of cancels) {
    if (cancel.aborted) onCancel();
    else cancel.addEventListener("abort", onCancel, { once: true });
  }

  return {
    signal: controller.signal,
    arm: () => {
      if (timeoutMs > 0 && !settled && cause === null) wait(timeoutMs);
    },
    stop,
    giveUp: () => controller.abort(new DOMException("Given up", "AbortError")),
    settle: () => {
      settled = true;
      clearTimeout(timer);
      for (const cancel of cancels) cancel.removeEventListener("abort", onCancel);
      return cause;
    },
  };
}

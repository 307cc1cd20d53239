/** One signal, one cause: the first wins, however long it takes, and nothing is left ticking. */

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createDeadline } from "../../src/deadline.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A signal that counts who listens to it. */
function counted() {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  return { abort: () => controller.abort(), signal, count: () => listeners };
}

describe("the time limit", () => {
  test("counts from arm, and is over at the limit and not before", () => {
    const deadline = createDeadline(1000);
    vi.advanceTimersByTime(5000);
    deadline.arm();
    vi.advanceTimersByTime(999);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.signal.aborted).toBe(true);
    expect(deadline.signal.reason).toMatchObject({ name: "AbortError", message: "The time limit is over" });
    expect(deadline.settle()).toBe("timed_out");
  });

  test("0 is none", () => {
    const deadline = createDeadline(0);
    deadline.arm();
    expect(vi.getTimerCount()).toBe(0);
    expect(deadline.settle()).toBeNull();
  });

  test.each([2 ** 31 - 1, 2 ** 31, 2 ** 31 + 5000, 2 ** 33])("%d ms is kept to the millisecond", (limit) => {
    const deadline = createDeadline(limit);
    deadline.arm();
    let passed = 0;
    for (const step of [1, 60_000, limit - 60_002]) {
      vi.advanceTimersByTime(step);
      passed += step;
      expect([passed, deadline.signal.aborted]).toEqual([passed, false]);
    }
    vi.advanceTimersByTime(1);
    expect(deadline.settle()).toBe("timed_out");
  });

  test("the longest number of milliseconds does not fire at once", () => {
    const deadline = createDeadline(Number.MAX_SAFE_INTEGER);
    deadline.arm();
    vi.advanceTimersByTime(2 ** 32);
    expect(deadline.signal.aborted).toBe(false);
    deadline.settle();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("the first cause wins", () => {
  test("cancelled, then out of time", () => {
    const cancel = new AbortController();
    const deadline = createDeadline(10, [cancel.signal]);
    deadline.arm();
    vi.advanceTimersByTime(9);
    cancel.abort();
    expect(deadline.signal.reason).toMatchObject({ name: "AbortError", message: "Cancelled" });
    vi.advanceTimersByTime(10);
    expect(deadline.settle()).toBe("cancelled");
  });

  test("out of time, then cancelled", () => {
    const cancel = new AbortController();
    const deadline = createDeadline(10, [cancel.signal]);
    deadline.arm();
    vi.advanceTimersByTime(10);
    cancel.abort();
    expect(deadline.settle()).toBe("timed_out");
  });

  test("any of several cancels, one that did so before included", () => {
    for (const cancelled of [0, 1, 2]) {
      const cancels = [new AbortController(), new AbortController(), new AbortController()];
      cancels[cancelled]?.abort();
      const deadline = createDeadline(
        10,
        cancels.map(({ signal }) => signal),
      );
      expect(deadline.signal.aborted).toBe(true);
      deadline.arm();
      expect(vi.getTimerCount()).toBe(0);
      expect(deadline.settle()).toBe("cancelled");
    }
  });

  test("stop by hand is a cause like any other", () => {
    const deadline = createDeadline(10);
    deadline.stop("cancelled");
    deadline.stop("timed_out");
    expect(deadline.settle()).toBe("cancelled");
  });

  test("aborts once", () => {
    const cancel = new AbortController();
    const deadline = createDeadline(10, [cancel.signal]);
    let aborts = 0;
    deadline.signal.addEventListener("abort", () => {
      aborts += 1;
    });
    deadline.arm();
    deadline.stop("cancelled");
    vi.advanceTimersByTime(10);
    cancel.abort();
    expect(aborts).toBe(1);
    deadline.settle();
  });
});

describe("once it is settled", () => {
  test("no cause counts and nothing is aborted any more", () => {
    const cancel = new AbortController();
    const deadline = createDeadline(10, [cancel.signal]);
    deadline.arm();
    expect(deadline.settle()).toBeNull();
    cancel.abort();
    deadline.stop("timed_out");
    deadline.arm();
    vi.advanceTimersByTime(100);
    expect(deadline.signal.aborted).toBe(false);
    expect(deadline.settle()).toBeNull();
  });

  test("neither timer nor listener is left, whichever way it came about", () => {
    const ways: readonly ((deadline: ReturnType<typeof createDeadline>, abort: () => void) => void)[] = [
      () => {},
      (deadline) => deadline.arm(),
      (deadline, abort) => {
        deadline.arm();
        abort();
      },
      (_, abort) => abort(),
      (deadline) => {
        deadline.arm();
        vi.advanceTimersByTime(2 ** 31 + 10);
      },
    ];
    for (const way of ways) {
      const cancel = counted();
      const deadline = createDeadline(2 ** 32, [cancel.signal]);
      expect(cancel.count()).toBe(1);
      way(deadline, cancel.abort);
      deadline.settle();
      expect([vi.getTimerCount(), cancel.count()]).toEqual([0, 0]);
    }
  });
});

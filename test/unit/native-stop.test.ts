/** The end of a tree: asked, given its time, forced, and named when it does not go; and CPU time that is used up. */

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Cell } from "../../adapters/_native/containment.ts";
import { watchCpuTime } from "../../adapters/_native/cpu-time.ts";
import { endTree } from "../../adapters/_native/stop.ts";
import type { ExitKind } from "../../src/types.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const graceMs = 1000;
const exit: ExitKind = { kind: "exited", code: 0 };

/** A cell whose processes do what the test says, and the signals that they got: name and millisecond. */
function cellOf(given: { readonly dies?: (signal: string) => boolean; readonly cpuTimeMs?: () => number | null } = {}) {
  const began = performance.now();
  const known = { signals: [] as string[], empty: false };
  const cell: Cell = {
    enter: (spawn) => spawn(),
    alsoHolds: () => {},
    signal: (signal) => {
      known.signals.push(`${signal} ${Math.round(performance.now() - began)}`);
      if (given.dies?.(signal) ?? false) known.empty = true;
    },
    isEmpty: () => known.empty,
    wasOutOfMemory: () => false,
    cpuTimeMs: given.cpuTimeMs ?? (() => null),
    dispose: () => [],
  };
  return { cell, known };
}

function ending(dies: (signal: string) => boolean, grace = graceMs) {
  const { cell, known } = cellOf({ dies });
  const controller = new AbortController();
  const exited = Promise.withResolvers<ExitKind>();
  const end = endTree(cell, exited.promise, { signal: controller.signal, graceMs: grace });
  let left: unknown = "still there";
  void end.emptied.then((leftovers) => {
    left = leftovers;
  });
  return { known, end, stop: () => controller.abort(), exited: () => exited.resolve(exit), left: () => left };
}
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

describe("a command that ends by itself", () => {
  test("with all it began gets no signal at all", async () => {
    const { known, end, exited, left } = ending(() => false);
    known.empty = true;
    exited();
    await pass(1);
    expect([known.signals, left(), end.killed, vi.getTimerCount()]).toEqual([[], [], false, 0]);
  });

  test("without those it began takes them along, at once and by force", async () => {
    const { known, end, exited, left } = ending((signal) => signal === "SIGKILL");
    exited();
    await pass(20);
    expect([known.signals, left(), end.killed, vi.getTimerCount()]).toEqual([["SIGKILL 0"], [], false, 0]);
  });
});

describe("a stop", () => {
  test("asks first, and is over with the last that goes in time", async () => {
    const { known, end, stop, exited, left } = ending(() => false);
    await pass(100);
    stop();
    expect(known.signals).toEqual(["SIGTERM 100"]);
    exited();
    await pass(500);
    expect([known.signals, left()]).toEqual([["SIGTERM 100"], "still there"]);
    known.empty = true;
    await pass(20);
    expect([known.signals, left(), end.killed, vi.getTimerCount()]).toEqual([["SIGTERM 100"], [], false, 0]);
  });

  test("forces what is still there after the grace period, and no sooner", async () => {
    const { known, end, stop, exited, left } = ending((signal) => signal === "SIGKILL");
    stop();
    await pass(graceMs - 1);
    expect(known.signals).toEqual(["SIGTERM 0"]);
    await pass(1);
    expect(known.signals).toEqual(["SIGTERM 0", "SIGKILL 1000"]);
    exited();
    await pass(20);
    expect([left(), end.killed, vi.getTimerCount()]).toEqual([[], true, 0]);
  });

  test("forces those who outlive their command when the same time is over", async () => {
    const { known, end, stop, exited, left } = ending((signal) => signal === "SIGKILL");
    stop();
    await pass(10);
    exited();
    await pass(graceMs - 20);
    expect(known.signals).toEqual(["SIGTERM 0"]);
    await pass(40);
    expect(known.signals.map((sent) => sent.split(" ")[0])).toEqual(["SIGTERM", "SIGKILL"]);
    expect([left(), end.killed]).toEqual([[], false]);
  });

  test("without a grace period forces at once", async () => {
    const { known, stop, exited, left } = ending((signal) => signal === "SIGKILL", 0);
    stop();
    await pass(1);
    exited();
    await pass(20);
    expect([known.signals.map((sent) => sent.split(" ")[0]), left()]).toEqual([["SIGTERM", "SIGKILL"], []]);
  });

  test("that was asked for before the start is one too", async () => {
    const { cell, known } = cellOf({ dies: () => true });
    const { emptied } = endTree(cell, Promise.resolve(exit), { signal: AbortSignal.abort(), graceMs });
    await pass(10);
    expect([known.signals, await emptied]).toEqual([["SIGTERM 0"], []]);
  });

  test("after the end is none", async () => {
    const { known, stop, exited } = ending(() => false);
    known.empty = true;
    exited();
    await pass(1);
    stop();
    await pass(2 * graceMs);
    expect(known.signals).toEqual([]);
  });

  test.each([2 ** 31, 2 ** 40])("with a grace period of %d ms does not force at once", async (grace) => {
    const { known, stop } = ending(() => false, grace);
    stop();
    await pass(60_000);
    expect(known.signals).toEqual(["SIGTERM 0"]);
  });
});

test("what does not go is killed again and again for a while, then named instead of waited for", async () => {
  const { known, exited, left } = ending(() => false);
  exited();
  await pass(4900);
  expect(left()).toBe("still there");
  await pass(200);
  expect(left()).toEqual([{ kind: "processes", name: "of the command", reason: expect.stringContaining("killed") }]);
  expect(known.signals.length).toBeGreaterThan(10);
  expect(new Set(known.signals.map((sent) => sent.split(" ")[0]))).toEqual(new Set(["SIGKILL"]));
  expect(vi.getTimerCount()).toBe(0);
});

describe("CPU time", () => {
  /** A cell that uses this much CPU time in each millisecond. */
  const busy = (rate: () => number) => {
    let used = 0;
    let last = performance.now();
    return cellOf({
      cpuTimeMs: () => {
        used += (performance.now() - last) * rate();
        last = performance.now();
        return used;
      },
    });
  };

  test("used up ends it by force, soon and never before", async () => {
    const { cell, known } = busy(() => 1);
    const watch = watchCpuTime(cell, 1000);
    await pass(999);
    expect(known.signals).toEqual([]);
    await pass(navigator.hardwareConcurrency * 10 + 20);
    expect(known.signals).toHaveLength(1);
    expect(known.signals[0]).toMatch(/^SIGKILL/);
    expect([watch.settle(), vi.getTimerCount()]).toEqual([true, 0]);
  });

  test("used by all cores at once is seen in time", async () => {
    const cores = navigator.hardwareConcurrency;
    const { cell, known } = busy(() => cores);
    const watch = watchCpuTime(cell, 1000 * cores);
    await pass(1030);
    expect([known.signals.length, watch.settle()]).toEqual([1, true]);
  });

  test("not used up ends nothing, and leaves no timer", async () => {
    const { cell, known } = busy(() => 0);
    const watch = watchCpuTime(cell, 1000);
    await pass(100_000);
    expect([known.signals, watch.settle(), vi.getTimerCount()]).toEqual([[], false, 0]);
  });

  test("that nobody limits, or nobody can count, is not watched", () => {
    expect(watchCpuTime(busy(() => 1).cell, null).settle()).toBe(false);
    expect(watchCpuTime(cellOf().cell, 1).settle()).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("of centuries does not make it look without a pause", async () => {
    let looks = 0;
    const { cell } = cellOf({
      cpuTimeMs: () => {
        looks += 1;
        return 0;
      },
    });
    const watch = watchCpuTime(cell, Number.MAX_SAFE_INTEGER);
    await pass(60_000);
    expect(looks).toBeLessThan(5);
    watch.settle();
  });
});

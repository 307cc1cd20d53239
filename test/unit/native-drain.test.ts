/** A stream ends after its command: nothing readable is lost, a slow reader has its time, and nobody holds it open for ever. */

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type ByteSource, drainable, sourceOf } from "../../adapters/_native/drain.ts";
import { readAll } from "./memory-plan.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The other end of a pipe: what is written is read, and a read without anything to read waits. */
function pipe() {
  const waiting: Uint8Array[] = [];
  const seen = { reads: 0, cancels: 0, ended: false };
  let pending: PromiseWithResolvers<Uint8Array | null> | null = null;
  const source: ByteSource = {
    read: () => {
      seen.reads += 1;
      const next = waiting.shift();
      if (next !== undefined) return Promise.resolve(next);
      if (seen.ended) return Promise.resolve(null);
      pending = Promise.withResolvers();
      return pending.promise;
    },
    cancel: () => {
      seen.cancels += 1;
    },
  };
  const settle = (how: (waiter: PromiseWithResolvers<Uint8Array | null>) => void): boolean => {
    const waiter = pending;
    pending = null;
    if (waiter !== null) how(waiter);
    return waiter !== null;
  };
  return {
    ...{ source, seen },
    write: (chunk: Uint8Array) => {
      if (!settle(({ resolve }) => resolve(chunk))) waiting.push(chunk);
    },
    end: () => {
      seen.ended = true;
      settle(({ resolve }) => resolve(null));
    },
    fail: (error: Error) => settle(({ reject }) => reject(error)),
  };
}

/** Whether a promise has settled, without waiting for it. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.finally(() => {
    settled = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  return settled;
}

const chunk = (length: number) => new Uint8Array(length).fill(7);

describe("while the command runs", () => {
  test("everything is handed on, and a read waits for as long as it takes", async () => {
    const { source, write, end, seen } = pipe();
    const { stream, closed } = drainable(source);
    const all = readAll(stream);
    await vi.advanceTimersByTimeAsync(60_000);
    write(chunk(3));
    await vi.advanceTimersByTimeAsync(60_000);
    write(chunk(2));
    expect(await isSettled(closed)).toBe(false);
    end();
    expect((await all).length).toBe(5);
    expect([await isSettled(closed), seen.cancels]).toEqual([true, 1]);
  });

  test("nothing is read that nobody asked for", async () => {
    const { source, write, seen } = pipe();
    const { stream } = drainable(source);
    write(chunk(1));
    await vi.advanceTimersByTimeAsync(1000);
    expect(seen.reads).toBe(0);
    const reader = stream.getReader();
    await reader.read();
    await vi.advanceTimersByTimeAsync(1000);
    expect(seen.reads).toBe(1);
  });
});

const heldOpen = "Something that got away still holds the other end open";

/** All that comes before a stream breaks off, and what it breaks off with. */
async function readUntilBroken(stream: ReadableStream<Uint8Array>): Promise<{ length: number; broke: string }> {
  const reader = stream.getReader();
  let length = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) length += next.value.length;
    return { length, broke: "" };
  } catch (error) {
    return { length, broke: error instanceof Error ? error.message : String(error) };
  }
}

describe("once it is over", () => {
  test("what is there is handed on, then it ends with the pipe", async () => {
    const { source, write, end } = pipe();
    const { stream, finish, closed } = drainable(source);
    write(chunk(3));
    write(chunk(4));
    end();
    finish();
    expect((await readAll(stream)).length).toBe(7);
    expect(await isSettled(closed)).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a slow reader has all the time it wants", async () => {
    const { source, write, end } = pipe();
    const { stream, finish, closed } = drainable(source);
    for (let count = 0; count < 3; count += 1) write(chunk(1000));
    end();
    finish();
    const reader = stream.getReader();
    let total = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      total += next.value.length;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await isSettled(closed)).toBe(false);
    }
    expect([total, await isSettled(closed)]).toEqual([3000, true]);
  });

  test("somebody who holds it open without a word is cut after a while, which is told, and what he says later is dropped", async () => {
    const { source, write, seen } = pipe();
    const { stream, finish, closed } = drainable(source);
    const all = readUntilBroken(stream);
    write(chunk(5));
    await vi.advanceTimersByTimeAsync(10);
    finish();
    await vi.advanceTimersByTimeAsync(200);
    expect(await isSettled(closed)).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    expect([await all, await isSettled(closed), seen.cancels]).toEqual([{ length: 5, broke: heldOpen }, true, 1]);
    write(chunk(1));
    expect(vi.getTimerCount()).toBe(0);
  });

  test("each word of his buys him the same time again, but not for ever", async () => {
    const { source, write, seen } = pipe();
    const { stream, finish, closed } = drainable(source);
    const all = readUntilBroken(stream);
    finish();
    let words = 0;
    while (!(await isSettled(closed)) && words < 100) {
      write(chunk(64 * 1024));
      words += 1;
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(words).toBeLessThan(40);
    expect([await all, seen.cancels]).toEqual([{ length: words * 64 * 1024, broke: heldOpen }, 1]);
    expect((await all).length).toBeGreaterThanOrEqual(1024 * 1024);
  });

  test("nor does a little now and then", async () => {
    const { source, write } = pipe();
    const { stream, finish, closed } = drainable(source);
    const all = readUntilBroken(stream);
    finish();
    let words = 0;
    while (!(await isSettled(closed)) && words < 100) {
      write(chunk(1));
      words += 1;
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(words).toBeLessThan(40);
    expect((await all).broke).toEqual(heldOpen);
  });

  test("a whole pipe's worth is never cut, however it is chunked", async () => {
    const { source, write, end } = pipe();
    const { stream, finish } = drainable(source);
    for (let count = 0; count < 1024; count += 1) write(chunk(1024));
    end();
    finish();
    expect((await readAll(stream)).length).toBe(1024 * 1024);
  });
});

describe("when it breaks", () => {
  test("the reader is told, and our end is closed", async () => {
    const { source, write, fail, seen } = pipe();
    const { stream, closed } = drainable(source);
    const all = readAll(stream);
    all.catch(() => {});
    write(chunk(1));
    await vi.advanceTimersByTimeAsync(1);
    fail(new Error("EIO"));
    await expect(all).rejects.toThrow("EIO");
    expect([await isSettled(closed), seen.cancels]).toEqual([true, 1]);
  });

  test("after it was cut, nothing else is told", async () => {
    const { source, fail } = pipe();
    const { stream, finish } = drainable(source);
    const all = readUntilBroken(stream);
    await vi.advanceTimersByTimeAsync(1);
    finish();
    await vi.advanceTimersByTimeAsync(1000);
    fail(new Error("EIO"));
    expect(await all).toEqual({ length: 0, broke: heldOpen });
  });
});

describe("a reader that leaves", () => {
  test("closes our end, in the middle of a read or before the first", async () => {
    for (const reads of [0, 1]) {
      const { source, write, seen } = pipe();
      const { stream, finish, closed } = drainable(source);
      const reader = stream.getReader();
      if (reads > 0) void reader.read();
      await vi.advanceTimersByTimeAsync(1);
      await reader.cancel();
      expect([await isSettled(closed), seen.cancels]).toEqual([true, 1]);
      write(chunk(1));
      finish();
      await vi.advanceTimersByTimeAsync(1000);
      expect(vi.getTimerCount()).toBe(0);
    }
  });
});

test("a runtime's own stream is a source: chunk by chunk, null at its end, and let go of by cancel", async () => {
  let cancelled = false;
  const source = sourceOf(
    new ReadableStream({
      start: (controller) => controller.enqueue(chunk(2)),
      cancel: () => {
        cancelled = true;
      },
    }),
  );
  expect(await source.read()).toEqual(chunk(2));
  source.cancel();
  expect([await source.read(), cancelled]).toEqual([null, true]);
});

/** Events come out in the order in which they went in, none is lost, and nobody waits for what will not come. */

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEventQueue } from "../../src/event-queue.ts";

/** Whether a promise has settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<false>((resolve) => setTimeout(resolve, 1, false))]);
}

describe("order", () => {
  test("whatever the interleaving of pushes and takes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 40 }), async (pushes) => {
        const queue = createEventQueue<number>();
        const taken: Promise<number | undefined>[] = [];
        let pushed = 0;
        for (const push of pushes) {
          if (push) void queue.push(pushed++);
          else taken.push(queue.take());
        }
        queue.end();
        const first = (await Promise.all(taken)).filter((event) => event !== undefined);
        const rest: number[] = [];
        for (let event = await queue.take(); event !== undefined; event = await queue.take()) rest.push(event);
        expect([...first, ...rest]).toEqual(Array.from({ length: pushed }, (_, index) => index));
      }),
    );
  });

  test("several takers are served in their order", async () => {
    const queue = createEventQueue<string>();
    const takers = [queue.take(), queue.take(), queue.take()];
    void queue.push("a");
    void queue.push("b");
    queue.end();
    expect(await Promise.all(takers)).toEqual(["a", "b", undefined]);
  });
});

describe("back-pressure", () => {
  test("a push settles when its own event is taken, not before", async () => {
    const queue = createEventQueue<string>();
    const first = queue.push("a");
    const second = queue.push("b");
    expect([await isSettled(first), await isSettled(second)]).toEqual([false, false]);
    await queue.take();
    expect([await isSettled(first), await isSettled(second)]).toEqual([true, false]);
    await queue.take();
    expect(await isSettled(second)).toBe(true);
  });

  test("a push that somebody waits for settles at once", async () => {
    const queue = createEventQueue<string>();
    const taken = queue.take();
    expect(await isSettled(queue.push("a"))).toBe(true);
    expect(await taken).toBe("a");
  });
});

describe("the end", () => {
  test("comes after what is there, and stays", async () => {
    const queue = createEventQueue<string>();
    void queue.push("a");
    queue.end();
    queue.end(new Error("too late"));
    await queue.push("b");
    expect([await queue.take(), await queue.take(), await queue.take()]).toEqual(["a", undefined, undefined]);
  });

  test("with a failure is told once, after what is there", async () => {
    const failure = new Error("broken");
    const queue = createEventQueue<string>();
    void queue.push("a");
    queue.end(failure);
    expect(await queue.take()).toBe("a");
    await expect(queue.take()).rejects.toBe(failure);
    expect(await queue.take()).toBeUndefined();
  });

  test("with a failure is told to the first who waits, and is an end for the others", async () => {
    const queue = createEventQueue<string>();
    const takers = [queue.take(), queue.take()];
    queue.end("broken");
    expect(await Promise.allSettled(takers)).toEqual([
      { status: "rejected", reason: "broken" },
      { status: "fulfilled", value: undefined },
    ]);
  });
});

describe("a consumer that left", () => {
  test("frees those who push, before and after, and those who wait", async () => {
    const queue = createEventQueue<string>();
    const before = queue.push("a");
    queue.abandon();
    await Promise.all([before, queue.push("b")]);
    queue.end(new Error("nobody hears of it"));
    expect(await queue.take()).toBeUndefined();
    const waiting = createEventQueue<string>();
    const taken = waiting.take();
    waiting.abandon();
    expect(await taken).toBeUndefined();
  });
});

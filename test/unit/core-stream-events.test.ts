/** An execution as events: each in its order, exactly one `finished` and that last, and a reader that leaves ends it. */

import { describe, expect, test } from "vitest";
import type { ExecutionEvent } from "../../src/runtime-types.ts";
import { type StreamListener, streamEvents } from "../../src/stream-events.ts";
import type { Ending } from "../../src/supervise.ts";

const ending: Ending = {
  ...{ id: "1", backend: "memory", outcome: "completed", exitCode: 0, signal: null, cause: null },
  ...{ files: {}, warnings: [], durationMs: 1, timings: { queueMs: 0, pullMs: 0, startMs: 0 } },
};
const bytes = (text: string) => new TextEncoder().encode(text);
const tick = () => new Promise((resolve) => setTimeout(resolve, 1));
const types = (events: readonly ExecutionEvent[]) => events.map(({ type }) => type);

async function readAll(events: AsyncIterable<ExecutionEvent>): Promise<ExecutionEvent[]> {
  const all: ExecutionEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** An execution that writes three times and then waits to be cancelled, and what is known of it. */
function endless() {
  const known = { starts: 0, written: 0, over: false };
  const run = async (listener: StreamListener, left: AbortSignal) => {
    known.starts += 1;
    for (const text of ["a", "b", "c"]) {
      await listener.stdout(bytes(text));
      known.written += 1;
    }
    if (!left.aborted) await new Promise((resolve) => left.addEventListener("abort", resolve, { once: true }));
    await tick();
    known.over = true;
    return ending;
  };
  return { known, events: streamEvents(run) };
}

describe("the events", () => {
  test("come as they were told, and finished once and last, with what was handed on counted", async () => {
    const events = await readAll(
      streamEvents(async ({ stdout, stderr, progress, started }) => {
        progress?.({ phase: "pull", message: "Pulling", fraction: 0.5 });
        started?.({ id: "1", backend: "memory" });
        await stdout(bytes("one"));
        await stderr(bytes("oh"));
        await stdout(bytes("two"));
        return ending;
      }),
    );
    expect(events.slice(0, -1)).toEqual([
      { type: "progress", phase: "pull", message: "Pulling", fraction: 0.5 },
      { type: "started", id: "1", backend: "memory" },
      { type: "stdout", data: bytes("one") },
      { type: "stderr", data: bytes("oh") },
      { type: "stdout", data: bytes("two") },
    ]);
    expect(events.at(-1)).toEqual({
      type: "finished",
      output: {
        ...ending,
        ...{ stdout: "", stderr: "", stdoutBytes: new Uint8Array(0), stderrBytes: new Uint8Array(0) },
        ...{ stdoutTruncated: false, stderrTruncated: false, stdoutTotalBytes: 6, stderrTotalBytes: 2 },
      },
    });
  });

  test("are finished alone where nothing was written, and then no more", async () => {
    const events = streamEvents(async () => ending);
    expect(types(await readAll(events))).toEqual(["finished"]);
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect(await events.return?.()).toEqual({ done: true, value: undefined });
  });

  test("end with the failure, told once, after what came before it", async () => {
    const failure = new Error("It could not be run");
    const events = streamEvents(async ({ progress }) => {
      progress?.({ phase: "queue", message: "Waiting" });
      throw failure;
    });
    expect(await events.next()).toMatchObject({ done: false, value: { type: "progress" } });
    await expect(events.next()).rejects.toBe(failure);
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  test("asked for all at once, each answers one of them", async () => {
    const events = streamEvents(async ({ stdout }) => {
      await stdout(bytes("a"));
      return ending;
    });
    const answers = await Promise.all([events.next(), events.next(), events.next()]);
    expect(answers.map(({ done, value }) => (done ? "done" : value.type))).toEqual(["stdout", "finished", "done"]);
  });
});

describe("the reader", () => {
  test("starts it with the first question, once", async () => {
    const { known, events } = endless();
    await tick();
    expect(known.starts).toBe(0);
    await events.next();
    await events.next();
    expect(known.starts).toBe(1);
    await events.return?.();
  });

  test("slows it: no write goes on before the last one has been taken", async () => {
    const { known, events } = endless();
    expect(known.written).toBe(0);
    for (const written of [1, 2, 3]) {
      await events.next();
      await tick();
      expect(known.written).toBe(written);
    }
    await events.return?.();
  });

  test("that leaves ends it, and waits until it is over", async () => {
    const { known, events } = endless();
    for await (const event of events) {
      expect(event).toMatchObject({ type: "stdout" });
      break;
    }
    expect(known).toMatchObject({ over: true, written: 3 });
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  test("that leaves while it waits gets its end too", async () => {
    const { known, events } = endless();
    for (let taken = 0; taken < 3; taken += 1) await events.next();
    const waiting = events.next();
    expect(await events.return?.()).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(known.over).toBe(true);
  });

  test("that leaves before its first question starts nothing, then or later", async () => {
    const { known, events } = endless();
    expect(await events.return?.()).toEqual({ done: true, value: undefined });
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect(known.starts).toBe(0);
  });

  test("that throws gets its own error back once it is over", async () => {
    const { known, events } = endless();
    await events.next();
    const error = new Error("mine");
    await expect(events.throw?.(error)).rejects.toBe(error);
    expect(known.over).toBe(true);
    await expect(endless().events.throw?.(error)).rejects.toBe(error);
  });

  test("that left hears of no failure", async () => {
    const events = streamEvents(async ({ stdout }, left) => {
      await stdout(bytes("a"));
      await new Promise((resolve) => left.addEventListener("abort", resolve, { once: true }));
      throw new Error("Cancelled");
    });
    await events.next();
    expect(await events.return?.()).toEqual({ done: true, value: undefined });
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });
});

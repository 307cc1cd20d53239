/** Bytes on their way in and out: slow takers slow, broken sources are told, closed commands are not. */

import { describe, expect, test } from "vitest";
import { feedStdin, pump } from "../../src/streams.ts";

const tick = () => new Promise((resolve) => setTimeout(resolve, 1));
const bytes = (...values: readonly number[]) => Uint8Array.from(values);

/** A stream of the given chunks, and how far it was read. */
function sourceOf(chunks: readonly unknown[], failure?: unknown) {
  const seen = { pulled: 0, cancelled: undefined as unknown };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[seen.pulled];
        seen.pulled += 1;
        if (chunk !== undefined) controller.enqueue(chunk as Uint8Array);
        else if (failure !== undefined) controller.error(failure);
        else controller.close();
      },
      cancel(reason) {
        seen.cancelled = reason;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, seen };
}

describe("pump", () => {
  test("hands on every chunk in its order and answers null at the end", async () => {
    const taken: Uint8Array[] = [];
    expect(await pump(sourceOf([bytes(1), bytes(2, 3)]).stream, (chunk) => void taken.push(chunk))).toBeNull();
    expect(taken).toEqual([bytes(1), bytes(2, 3)]);
  });

  test("reads no further than its sink has taken", async () => {
    const { stream, seen } = sourceOf([bytes(1), bytes(2)]);
    const taken: (() => void)[] = [];
    const pumped = pump(stream, () => new Promise((resolve) => taken.push(resolve)));
    await tick();
    expect(seen.pulled).toBe(1);
    taken.shift()?.();
    await tick();
    expect(seen.pulled).toBe(2);
    taken.shift()?.();
    expect(await pumped).toBeNull();
  });

  test.each([
    [new Error("Connection lost"), "Connection lost"],
    ["text", "text"],
  ])("answers what the stream broke off with, after what came before: %s", async (failure, message) => {
    const taken: Uint8Array[] = [];
    expect(await pump(sourceOf([bytes(1)], failure).stream, (chunk) => void taken.push(chunk))).toBe(message);
    expect(taken).toEqual([bytes(1)]);
  });
});

describe("feeding a command's stdin", () => {
  /** A command's stdin, what it got, and after how many writes it closes. */
  function sinkOf(mostWrites = Number.POSITIVE_INFINITY) {
    const got: Uint8Array[] = [];
    const end = { closed: false, aborted: undefined as unknown };
    const stream = new WritableStream<Uint8Array>({
      write(chunk) {
        if (got.length >= mostWrites) throw new Error("EPIPE");
        got.push(chunk);
      },
      close() {
        end.closed = true;
      },
      abort(reason) {
        end.aborted = reason;
      },
    });
    return { stream, got, end };
  }
  /** What the feed failed with, or `null` where it did not within a moment. */
  const failureOf = (feed: { readonly failed: Promise<string> }) =>
    Promise.race([
      feed.failed,
      tick()
        .then(tick)
        .then(() => null),
    ]);

  test("writes all of it and closes", async () => {
    const sink = sinkOf();
    const feed = feedStdin(sourceOf([bytes(1), bytes(2)]).stream.getReader(), sink.stream);
    expect(await failureOf(feed)).toBeNull();
    expect([sink.got, sink.end.closed]).toEqual([[bytes(1), bytes(2)], true]);
  });

  test("a source that breaks off is a failure, and no end of file", async () => {
    const sink = sinkOf();
    const feed = feedStdin(sourceOf([bytes(1)], new Error("Disk gone")).stream.getReader(), sink.stream);
    expect(await failureOf(feed)).toBe("The stream given as stdin broke off: Disk gone");
    expect([sink.got, sink.end.closed]).toEqual([[bytes(1)], false]);
  });

  test.each([
    ["text", "string"],
    [5, "number"],
    [[1], "object"],
    [null, "object"],
  ])("a chunk that is no bytes (%j) is a failure, and reaches no command", async (chunk, type) => {
    const sink = sinkOf();
    const feed = feedStdin(sourceOf([bytes(1), chunk, bytes(2)]).stream.getReader(), sink.stream);
    expect(await failureOf(feed)).toContain(`gave a chunk of type ${type}: give Uint8Array`);
    expect([sink.got, sink.end.closed]).toEqual([[bytes(1)], false]);
  });

  test("a command that stops reading is none", async () => {
    const { stream, seen } = sourceOf([bytes(1), bytes(2), bytes(3), bytes(4)]);
    const feed = feedStdin(stream.getReader(), sinkOf(1).stream);
    expect(await failureOf(feed)).toBeNull();
    feed.stop();
    await tick();
    expect(seen.cancelled).toBe("The command is over");
  });

  test("stop lets go of source and stdin, wherever they are", async () => {
    const sink = sinkOf();
    let cancelled: unknown;
    const silent = new ReadableStream<Uint8Array>({
      cancel(reason) {
        cancelled = reason;
      },
    });
    const feed = feedStdin(silent.getReader(), sink.stream);
    await tick();
    feed.stop();
    feed.stop();
    await tick();
    expect([cancelled, sink.end.aborted]).toEqual(["The command is over", "The command is over"]);
    expect(await failureOf(feed)).toBeNull();
  });

  test("stop hears of no source that refuses to be let go", async () => {
    const stubborn = new ReadableStream<Uint8Array>({
      cancel() {
        throw new Error("Never");
      },
    });
    const feed = feedStdin(stubborn.getReader(), sinkOf().stream);
    feed.stop();
    expect(await failureOf(feed)).toBeNull();
  });
});

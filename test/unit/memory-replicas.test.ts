/** Two adapters on one world are two replicas: one resumes what the other began, and ends only what belongs to the dead. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { type MemoryProgram, memoryWorld } from "../../adapters/memory.ts";
import { adapterOf, fromTheStart, never, noIo, planFor, readAll } from "./memory-plan.ts";

const sleeper: MemoryProgram = ({ sleep }) => sleep(Number.POSITIVE_INFINITY);

/** Writes both streams in the given pieces, byte n being n modulo 251, stderr counting down. */
const writer = (pieces: readonly number[]): MemoryProgram => {
  const slice = (from: number, length: number, sign: 1 | -1) =>
    Uint8Array.from({ length }, (_, index) => (sign * (from + index)) & 0xff);
  return async ({ stdout, stderr }) => {
    let at = 0;
    for (const piece of pieces) {
      await stdout.write(slice(at, piece, 1));
      await stderr.write(slice(at, piece, -1));
      at += piece;
    }
  };
};

/** Reads at least `wanted` bytes unless the stream ends, and leaves. */
async function readSome(stream: ReadableStream<Uint8Array>, wanted: number): Promise<Uint8Array> {
  const reader = stream.getReader();
  const bytes: number[] = [];
  while (bytes.length < wanted) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes.push(...value);
  }
  await reader.cancel();
  return Uint8Array.from(bytes);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

test("a second replica resumes both streams at any byte, without loss and without a byte twice", async () => {
  const pieces = fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 10 });
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  await fc.assert(
    fc.asyncProperty(pieces, share, share, share, async (sizes, first, ofStdout, ofStderr) => {
      const total = sizes.reduce((sum, size) => sum + size, 0);
      const world = memoryWorld();
      const programs = { write: writer(sizes) };
      const [one, two] = [await adapterOf({ world, programs }), await adapterOf({ world, programs })];
      const begun = await one.start(planFor(["write"]), noIo, never());
      const wanted = Math.floor(first * total);
      const [stdout, stderr] = await Promise.all([readSome(begun.stdout, wanted), readSome(begun.stderr, wanted)]);
      // The first replica is gone; its reader had confirmed only a part of what was sent.
      const from = {
        stdout: Math.floor(ofStdout * stdout.length),
        stderr: Math.floor(ofStderr * stderr.length),
      };
      const resumed = await two.attach?.(begun.ref, from, never());
      if (resumed === undefined) throw new Error("No attach");
      const [moreOut, moreErr] = await Promise.all([readAll(resumed.stdout), readAll(resumed.stderr)]);
      expect(await resumed.ended).toMatchObject({ kind: "exited", code: 0 });
      const whole = (sign: number) => Uint8Array.from({ length: total }, (_, index) => (sign * index) & 0xff);
      expect(joined(stdout.slice(0, from.stdout), moreOut)).toEqual(whole(1));
      expect(joined(stderr.slice(0, from.stderr), moreErr)).toEqual(whole(-1));
      await resumed.released;
      expect(world.pending()).toEqual({ timers: 0, executions: 0, prepared: 0 });
    }),
    { numRuns: 30 },
  );
});

test("what is no longer kept is refused, and what is no longer known is lost", async () => {
  const adapter = await adapterOf({ retainBytes: 1000, programs: { write: writer([30_000, 30_000]) } });
  const execution = await adapter.start(planFor(["write"]), noIo, never());
  await Promise.all([readAll(execution.stdout), readAll(execution.stderr)]);
  await execution.released;
  await expect(adapter.attach?.(execution.ref, fromTheStart, never())).rejects.toThrow("no longer kept");
  const late = await adapter.attach?.(execution.ref, { stdout: 60_000, stderr: 60_000 }, never());
  expect(await late?.ended).toMatchObject({ kind: "exited", code: 0 });
  const unknown = await adapter.attach?.({ ...execution.ref, id: "unknown" }, fromTheStart, never());
  expect(await unknown?.ended).toEqual({ kind: "lost", cause: "deleted" });
});

test("a sweep ends the work of dead owners only", async () => {
  const world = memoryWorld();
  const programs = { sleeper };
  const [one, two] = [await adapterOf({ world, programs }), await adapterOf({ world, programs })];
  const stop = new AbortController();
  const dead = await one.start(planFor(["sleeper"], { owner: "dead" }), noIo, never());
  const alive = await one.start(planFor(["sleeper"], { owner: "alive" }), noIo, stop.signal);
  const report = await two.sweep?.(async (owner) => owner === "alive");
  expect(report).toEqual({ found: 1, removed: 1, failed: [] });
  expect(await dead.ended).toMatchObject({ kind: "signaled" });
  const listed = [];
  for await (const ref of two.list?.("alive") ?? []) listed.push(ref.id);
  expect(listed).toEqual([alive.ref.id]);
  stop.abort();
  await alive.released;
});

test("another replica can stop what it attached to", async () => {
  const world = memoryWorld();
  const adapter = await adapterOf({ world, programs: { sleeper } });
  const begun = await adapter.start(planFor(["sleeper"]), noIo, never());
  const stop = new AbortController();
  const attached = await adapter.attach?.(begun.ref, fromTheStart, stop.signal);
  stop.abort();
  expect(await attached?.ended).toMatchObject({ kind: "signaled", signal: "SIGTERM" });
  expect(await begun.ended).toMatchObject({ kind: "signaled", signal: "SIGTERM" });
});

test("prepared work skips the way to the start, is used once, and can be discarded", async () => {
  const world = memoryWorld();
  const adapter = await adapterOf({ world, programs: { ok: async () => {} }, start: { queueMs: 60_000 } });
  const template = { image: null, module: null, limits: planFor(["ok"]).limits };
  const prepared = await adapter.prepare?.(template, never());
  if (prepared === undefined) throw new Error("No prepare");
  expect(world.pending().prepared).toBe(1);
  const execution = await adapter.start(planFor(["ok"]), { ...noIo, prepared }, never());
  expect(await execution.ended).toMatchObject({ kind: "exited", code: 0 });
  const again = adapter.start(planFor(["ok"]), { ...noIo, prepared }, never());
  await expect(again).rejects.toThrow("used or discarded before");
  const other = await adapter.prepare?.({ ...template, image: "other" }, never());
  if (other === undefined) throw new Error("No prepare");
  const wrong = adapter.start(planFor(["ok"]), { ...noIo, prepared: other }, never());
  await expect(wrong).rejects.toThrow("another image");
  await other.discard();
  expect(world.pending().prepared).toBe(0);
});

test("work is lost with the cause the platform gives, at once or after a while", async () => {
  const world = memoryWorld();
  const adapter = await adapterOf({ world, programs: { sleeper } });
  const evicted = await adapter.start(planFor(["sleeper"]), noIo, never());
  for await (const _ of evicted.progress);
  await expect.poll(() => world.processes().length).toBe(1);
  expect(world.lose(evicted.ref.id, "evicted")).toBe(true);
  expect(await evicted.ended).toMatchObject({ kind: "lost", cause: "evicted" });
  await evicted.released;
  expect(world.lose(evicted.ref.id, "evicted")).toBe(false);
  const leftovers = [{ kind: "pod", name: "p", reason: "the node does not answer" }];
  const loss = { afterMs: 5, cause: "node_lost" } as const;
  const doomed = await adapterOf({ world, programs: { sleeper }, loss, leftovers });
  const execution = await doomed.start(planFor(["sleeper"]), noIo, never());
  expect(await execution.ended).toMatchObject({ kind: "lost", cause: "node_lost" });
  expect(await execution.released).toEqual(leftovers);
  expect(world.pending()).toEqual({ timers: 0, executions: 0, prepared: 0 });
});

/** Where output, deadline and exit meet: the first cause wins, the truth is told, and nothing is left unawaited. */

import { describe, expect, test } from "vitest";
import { RuntimeError } from "../../src/errors.ts";
import { conclude } from "../../src/supervise.ts";
import type { Exit } from "../../src/types.ts";
import { settle, supervised } from "./core-scripted.ts";
import { planFor } from "./memory-plan.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const exited = (code: number): Exit => ({ kind: "exited", code });
const limited = (timeoutMs: number) => ({ limits: { ...planFor(["true"]).limits, timeoutMs } });
const sigkill: Exit = { kind: "signaled", signal: "SIGKILL", number: 9 };

describe("an ordinary end", () => {
  test("is told with everything that is known", async () => {
    const { plan, script, told, ending } = supervised();
    script.stdout.enqueue(bytes("out"));
    script.stderr.enqueue(bytes("err"));
    script.end({ kind: "exited", code: 3, durationMs: 12 });
    expect(await ending).toEqual({
      ...{ id: plan.id, backend: "memory", outcome: "completed", exitCode: 3, signal: null, cause: null },
      ...{ files: {}, warnings: [], durationMs: 12 },
      timings: { queueMs: 0, pullMs: 0, startMs: expect.any(Number) },
    });
    expect(told).toMatchObject({ starts: 1, begun: 1, stdout: "out", stderr: "err" });
    expect(told.stop?.aborted).toBe(false);
  });

  test("waits for the output, the files and the release, whatever comes first", async () => {
    const { script, told, ending } = supervised();
    let over = false;
    void ending.then(() => {
      over = true;
    });
    const steps = [
      () => script.ended.resolve(exited(0)),
      () => script.stdout.enqueue(bytes("late")),
      () => script.stdout.close(),
      () => script.stderr.close(),
      () => script.outputs.resolve([{ path: "a", bytes: bytes("x") }]),
      () => script.released.resolve([]),
    ];
    for (const step of steps) {
      expect(over).toBe(false);
      step();
      await settle();
    }
    expect(over).toBe(true);
    expect(told.stdout).toBe("late");
    expect((await ending).files).toEqual({ a: bytes("x") });
  });

  test("is not touched by a cancellation or a deadline that comes after it", async () => {
    const cancel = new AbortController();
    const { script, told, ending } = supervised({ plan: limited(20), job: { cancels: [cancel.signal] } });
    script.ended.resolve(exited(0));
    await settle();
    cancel.abort();
    await new Promise((resolve) => setTimeout(resolve, 30));
    script.end(exited(0));
    expect(await ending).toMatchObject({ outcome: "completed", exitCode: 0 });
    expect(told.stop?.aborted).toBe(false);
  });
});

describe("a stop", () => {
  test("comes with the deadline, and the command's own code stays", async () => {
    const { script, told, ending } = supervised({ plan: limited(5) });
    while (!told.stop?.aborted) await settle();
    script.end(exited(143));
    expect(await ending).toMatchObject({ outcome: "timed_out", exitCode: 143, signal: null });
  });

  test("comes with a cancellation", async () => {
    const cancel = new AbortController();
    const { script, told, ending } = supervised({ job: { cancels: [new AbortController().signal, cancel.signal] } });
    await settle();
    cancel.abort();
    expect(told.stop?.aborted).toBe(true);
    script.end(sigkill);
    expect(await ending).toMatchObject({ outcome: "cancelled", exitCode: 137, signal: "SIGKILL" });
  });

  test("has its clock started by the command's first instruction, not before", async () => {
    const gate = Promise.withResolvers<void>();
    async function* progress() {
      yield { phase: "pull", message: "Pulling" } as const;
      await gate.promise;
    }
    const { script, told, ending } = supervised({ plan: limited(200), progress: progress() });
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(told).toMatchObject({ begun: 0, stop: { aborted: false } });
    gate.resolve();
    await settle();
    expect(told).toMatchObject({ begun: 1, stop: { aborted: false } });
    script.end(exited(0));
    expect(await ending).toMatchObject({ outcome: "completed" });
  });

  test("during the progress is a stop as well", async () => {
    const cancel = new AbortController();
    const gate = Promise.withResolvers<void>();
    async function* progress() {
      await gate.promise;
      yield { phase: "start", message: "Starting" } as const;
    }
    const { script, told, ending } = supervised({ progress: progress(), job: { cancels: [cancel.signal] } });
    await settle();
    cancel.abort();
    expect(told.stop?.aborted).toBe(true);
    script.ended.reject(new RuntimeError("start_failed", "Removed before it ran"));
    script.stdout.close();
    script.stderr.close();
    script.released.resolve([]);
    gate.resolve();
    await expect(ending).rejects.toMatchObject({ code: "cancelled_before_start", started: "no" });
  });
});

describe("the truth about an end", () => {
  const lost: Exit = { kind: "lost", cause: "evicted" };
  const killed: Exit = { kind: "out_of_memory", number: 9 };
  const plain = { signal: null, cause: null };

  test.each<[Exit, Parameters<typeof conclude>[1], ReturnType<typeof conclude>]>([
    [exited(0), null, { outcome: "completed", exitCode: 0, ...plain }],
    [exited(124), null, { outcome: "completed", exitCode: 124, ...plain }],
    [exited(0), "timed_out", { outcome: "timed_out", exitCode: 0, ...plain }],
    [exited(1), "cancelled", { outcome: "cancelled", exitCode: 1, ...plain }],
    [sigkill, null, { outcome: "completed", exitCode: 137, signal: "SIGKILL", cause: null }],
    [sigkill, "timed_out", { outcome: "timed_out", exitCode: 137, signal: "SIGKILL", cause: null }],
    [{ kind: "signaled", signal: null, number: 34 }, null, { outcome: "completed", exitCode: 162, ...plain }],
    [
      { kind: "signaled", signal: "SIGX", number: null },
      null,
      { outcome: "completed", exitCode: null, signal: "SIGX", cause: null },
    ],
    [killed, null, { outcome: "out_of_memory", exitCode: 137, signal: "SIGKILL", cause: null }],
    [killed, "cancelled", { outcome: "cancelled", exitCode: 137, signal: "SIGKILL", cause: null }],
    [{ kind: "out_of_memory", number: null }, null, { outcome: "out_of_memory", exitCode: null, ...plain }],
    [{ kind: "out_of_memory", number: 15 }, null, { outcome: "out_of_memory", exitCode: 143, ...plain }],
    [lost, null, { outcome: "lost", exitCode: null, signal: null, cause: "evicted" }],
    [lost, "timed_out", { outcome: "timed_out", exitCode: null, ...plain }],
    [lost, "cancelled", { outcome: "cancelled", exitCode: null, ...plain }],
  ])("%j, stopped %s", (exit, stopped, expected) => {
    expect(conclude(exit, stopped)).toEqual(expected);
  });

  test("lost while it was being stopped is the stop's", async () => {
    const { script, told, ending } = supervised({ plan: limited(5) });
    while (!told.stop?.aborted) await settle();
    script.end(lost);
    expect(await ending).toMatchObject({ outcome: "timed_out", exitCode: null, cause: null });
  });
});

/** What goes wrong around a command: told as a warning, or thrown once everything made for it is gone; and where the time went. */

import { describe, expect, test } from "vitest";
import { RuntimeError } from "../../src/errors.ts";
import type { Exit } from "../../src/types.ts";
import { codesOf } from "./core-parts.ts";
import { settle, supervised } from "./core-scripted.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const exited = (code: number): Exit => ({ kind: "exited", code });
const sigkill: Exit = { kind: "signaled", signal: "SIGKILL", number: 9 };

describe("what went wrong beside it is a warning", () => {
  test("of the exit, the output, the files and the leftovers, in this order", async () => {
    const { script, told, ending } = supervised();
    script.stdout.enqueue(bytes("half"));
    await settle();
    script.stdout.error(new Error("Connection lost"));
    script.stderr.close();
    script.ended.resolve({ kind: "exited", code: 0, warnings: [{ code: "cpu_time_spent", message: "Spent" }] });
    script.outputs.resolve([
      { path: "__proto__", bytes: bytes("x") },
      { path: "b", missing: "there is no such file" },
    ]);
    script.released.resolve([{ kind: "pod", name: "p", reason: "Forbidden" }]);
    const { warnings, files, outcome } = await ending;
    expect(warnings).toEqual([
      { code: "cpu_time_spent", message: "Spent" },
      { code: "output_incomplete", message: "Output broke off: Connection lost" },
      { code: "output_missing", message: "Output b was not brought out: there is no such file" },
      { code: "left_behind", message: "Left behind: pod p: Forbidden" },
    ]);
    expect(Object.entries(files)).toEqual([["__proto__", bytes("x")]]);
    expect([told.stdout, outcome]).toEqual(["half", "completed"]);
  });

  test("input that broke off stops the command: it must not pass for the whole", async () => {
    const stdin = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("Disk gone")),
    });
    const { script, told, ending } = supervised({ job: { stdin } });
    while (!told.stop?.aborted) await settle();
    script.end(sigkill);
    const { outcome, warnings } = await ending;
    expect([outcome, codesOf(warnings)]).toEqual(["cancelled", ["stdin_failed"]]);
    expect(warnings[0]?.message).toBe("The stream given as stdin broke off: Disk gone");
  });

  test("input goes in, and what is left of it is let go of at the end", async () => {
    let cancelled = false;
    const stdin = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes("in")),
      cancel: () => {
        cancelled = true;
      },
    });
    const { script, ending } = supervised({ job: { stdin } });
    await settle();
    expect(script.input).toEqual([bytes("in")]);
    script.end(exited(0));
    expect(await ending).toMatchObject({ outcome: "completed", warnings: [] });
    expect(cancelled).toBe(true);
  });
});

describe("a command that never was", () => {
  test("is not even begun where it was cancelled before", async () => {
    const { told, ending } = supervised({ job: { cancels: [AbortSignal.abort()] } });
    await expect(ending).rejects.toMatchObject({ code: "cancelled_before_start", backend: "memory", started: "no" });
    expect(told.starts).toBe(0);
  });

  test("cancelled while it is being started is cancelled before its start, with the cause kept", async () => {
    const cancel = new AbortController();
    const failure = new RuntimeError("start_failed", "Aborted");
    const start = (_: unknown, __: unknown, signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(failure)));
    const { ending } = supervised({ start, job: { cancels: [cancel.signal] } });
    await settle();
    cancel.abort();
    await expect(ending).rejects.toMatchObject({ code: "cancelled_before_start", started: "no", cause: failure });
  });

  test("that may have begun is not said to be cancelled before its start", async () => {
    const cancel = new AbortController();
    const failure = new RuntimeError("start_failed", "No answer", { started: "maybe" });
    const start = async () => {
      cancel.abort();
      throw failure;
    };
    await expect(supervised({ start, job: { cancels: [cancel.signal] } }).ending).rejects.toBe(failure);
  });

  test("fails with the adapter's own error", async () => {
    const failure = new RuntimeError("command_not_found", "Command not found: x");
    await expect(supervised({ start: () => Promise.reject(failure) }).ending).rejects.toBe(failure);
  });

  test("fails with a RuntimeError whatever the adapter throws, and nobody knows whether it began", async () => {
    const failure = new TypeError("Broken");
    const expected = { code: "internal", message: "Broken", backend: "memory", started: "maybe", cause: failure };
    const { ending } = supervised({ start: () => Promise.reject(failure) });
    await expect(ending).rejects.toBeInstanceOf(RuntimeError);
    await expect(ending).rejects.toMatchObject(expected);
  });

  test("fails only when everything made for it is gone", async () => {
    const { script, ending } = supervised();
    let over = false;
    ending.catch(() => {
      over = true;
    });
    const failure = new RuntimeError("image_not_found", "No such image");
    for (const step of [
      () => script.ended.reject(failure),
      () => script.stdout.close(),
      () => script.stderr.close(),
      () => script.released.resolve([]),
    ]) {
      expect(over).toBe(false);
      step();
      await settle();
    }
    await expect(ending).rejects.toBe(failure);
  });
});

describe("time", () => {
  /** A clock that is moved by hand. */
  function clock() {
    const time = { now: 1000 };
    return { time, now: () => time.now };
  }

  test("before the first instruction goes where the progress says", async () => {
    const { time, now } = clock();
    const phases = ["queue", "schedule", "pull", "pull", "start"] as const;
    async function* progress() {
      for (const [index, phase] of phases.entries()) {
        time.now += 10 ** index;
        yield { phase, message: phase };
      }
      time.now += 100_000;
    }
    const seen: string[] = [];
    const { script, ending } = supervised({
      progress: progress(),
      job: { now },
      listener: { progress: ({ phase }) => void seen.push(phase) },
    });
    while (seen.length < 5) await settle();
    await settle();
    time.now += 7;
    script.end(exited(0));
    const { timings, durationMs } = await ending;
    expect(seen).toEqual(phases);
    expect(timings).toEqual({ startMs: 100_001, queueMs: 110, pullMs: 11_000 });
    expect(durationMs).toBe(7);
  });

  test("of the run is the platform's where it measured it", async () => {
    const { time, now } = clock();
    const { script, ending } = supervised({ job: { now } });
    await settle();
    time.now += 500;
    script.end({ ...exited(0), durationMs: 42 });
    expect((await ending).durationMs).toBe(42);
  });

  test("a progress that breaks off is no end: what becomes of the command says its end", async () => {
    async function* progress() {
      yield { phase: "queue", message: "Waiting" } as const;
      throw new Error("Watch closed");
    }
    const { script, told, ending } = supervised({ progress: progress() });
    await settle();
    expect(told.begun).toBe(1);
    script.end(exited(0));
    expect(await ending).toMatchObject({ outcome: "completed", exitCode: 0 });
  });
});

/** Closing a runtime: what runs is cancelled and awaited, what comes later is refused, and every backend that was made is closed. */

import { describe, expect, test } from "vitest";
import type { BackendEntry } from "../../src/backend.ts";
import { assembleRuntime } from "../../src/runtime.ts";
import type { Availability } from "../../src/types.ts";
import { configOf, entryOf, hostOf } from "./core-parts.ts";
import { scriptOf, settle } from "./core-scripted.ts";

const sigterm = { kind: "signaled", signal: "SIGTERM", number: 15 } as const;

/** A backend whose commands run until they are stopped, and then for `lastMs`. */
function lasting(name: string, found?: Availability) {
  const known = { running: 0, closed: 0, closedWhileRunning: 0 };
  const entry = entryOf(name, {
    ...(found === undefined ? {} : { found }),
    start: async (plan, _, signal) => {
      const script = scriptOf(plan);
      known.running += 1;
      const end = () =>
        setTimeout(() => {
          known.running -= 1;
          script.end(sigterm);
        }, 10);
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
      return script.execution;
    },
    close: async () => {
      known.closed += 1;
      known.closedWhileRunning += known.running;
    },
  });
  return { entry, known };
}

function runtimeOf(backend: string, entries: readonly BackendEntry[]) {
  const custom = { other: { type: "command", command: "x", backend: "docker" } };
  return assembleRuntime({ config: configOf({ runtime: { backend }, tools: { custom } }), host: hostOf(), entries });
}

describe("what runs", () => {
  test("is cancelled and over before the backend is closed and close answers", async () => {
    const { entry, known } = lasting("memory");
    const runtime = await runtimeOf("memory", [entry]);
    const outputs = [runtime.execute("a"), runtime.execute("b")];
    const events = runtime.stream("c");
    await events.next();
    const waiting = events.next();
    await settle();
    expect(known.running).toBe(3);
    await runtime.close();
    expect(known).toEqual({ running: 0, closed: 1, closedWhileRunning: 0 });
    for (const output of await Promise.all(outputs)) {
      expect(output).toMatchObject({ outcome: "cancelled", exitCode: 143, signal: "SIGTERM" });
    }
    expect(await waiting).toMatchObject({ value: { type: "finished", output: { outcome: "cancelled" } } });
    expect(await events.next()).toMatchObject({ done: true });
  });

  test("and has not begun yet does not begin", async () => {
    const { entry, known } = lasting("memory");
    const runtime = await runtimeOf("memory", [entry]);
    const early = runtime.execute("a");
    const closed = runtime.close();
    await expect(early).rejects.toMatchObject({ code: "cancelled_before_start", started: "no" });
    await closed;
    expect(known).toMatchObject({ running: 0, closed: 1 });
  });
});

describe("what comes later", () => {
  test("is refused by every way in", async () => {
    const { entry } = lasting("memory");
    const runtime = await runtimeOf("memory", [entry]);
    const streamed = runtime.stream("a");
    await runtime.close();
    const closed = { code: "closed", started: "no" };
    await expect(runtime.execute("a")).rejects.toMatchObject(closed);
    await expect(runtime.explain("a")).rejects.toMatchObject(closed);
    await expect(streamed.next()).rejects.toMatchObject(closed);
    await expect(runtime.stream("a").next()).rejects.toMatchObject(closed);
  });

  test("another close is no fault, and `await using` is one", async () => {
    const { entry, known } = lasting("memory");
    {
      await using runtime = await runtimeOf("memory", [entry]);
      await runtime.close();
    }
    expect(known.closed).toBeGreaterThanOrEqual(1);
  });
});

describe("every backend that was made is closed", () => {
  const unavailable: Availability = { available: false, reason: "Down", remedy: "Start it" };

  test("those that were only looked at included", async () => {
    const docker = lasting("docker");
    const native = lasting("native");
    const runtime = await runtimeOf("auto", [docker.entry, native.entry]);
    expect(runtime.name).toBe("docker");
    await runtime.close();
    expect([docker.known.closed, native.known.closed]).toEqual([1, 1]);
  });

  test("where none can be used, before that is told", async () => {
    const docker = lasting("docker", unavailable);
    await expect(runtimeOf("docker", [docker.entry])).rejects.toMatchObject({ code: "backend_unavailable" });
    expect(docker.known.closed).toBe(1);
  });

  test("the one that is still being made when the runtime closes too", async () => {
    const memory = lasting("memory");
    const docker = lasting("docker");
    const gate = Promise.withResolvers<void>();
    const slow: BackendEntry = {
      name: "docker",
      load: async () => {
        await gate.promise;
        return (await docker.entry.load?.()) ?? Promise.reject(new Error("No factory"));
      },
    };
    const runtime = await runtimeOf("memory", [memory.entry, slow]);
    const late = runtime.execute("other");
    await settle();
    const closed = runtime.close();
    gate.resolve();
    await expect(late).rejects.toMatchObject({ code: "cancelled_before_start" });
    await closed;
    expect(docker.known).toEqual({ running: 0, closed: 1, closedWhileRunning: 0 });
  });

  test("a close that fails keeps none of the others open", async () => {
    const broken = entryOf("docker", { close: () => Promise.reject(new Error("Stuck")) });
    const native = lasting("native");
    const runtime = await runtimeOf("auto", [broken, native.entry]);
    await runtime.close();
    expect(native.known.closed).toBe(1);
  });
});

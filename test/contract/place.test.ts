/** What happens around a command, scripted: the way to its start, its loss, its release. Each is told as it was. */

import { expect, test } from "vitest";
import { type MemoryOptions, type MemoryWorld, memoryWorld } from "../../testing.ts";
import { memoryRuntime } from "../fixtures/memory-target.ts";

const atRest = { timers: 0, executions: 0, prepared: 0 };

/** A world, a runtime in it, and after the body a look at what is left. */
async function withPlace(
  script: Partial<MemoryOptions>,
  body: (place: { runtime: Awaited<ReturnType<typeof memoryRuntime>>; world: MemoryWorld }) => Promise<void>,
): Promise<void> {
  const world = memoryWorld();
  const runtime = await memoryRuntime({ world, ...script });
  await body({ runtime, world });
  await runtime.close();
  expect(world.pending()).toEqual(atRest);
}

test("the way to the start is told step by step, and its time stands apart from the command's own", async () => {
  const start = { queueMs: 40, pullSteps: 4, pullMs: 80, scheduleMs: 40 };
  await withPlace({ start }, async ({ runtime }) => {
    const phases: string[] = [];
    for await (const event of runtime.stream("sleep", ["0.05"], { timeoutMs: 5000 })) {
      phases.push(event.type === "progress" ? event.phase : event.type);
      if (event.type !== "finished") continue;
      const { timings, durationMs } = event.output;
      expect(timings.queueMs).toBeGreaterThanOrEqual(70);
      expect(timings.pullMs).toBeGreaterThanOrEqual(50);
      expect(durationMs).toBeGreaterThanOrEqual(45);
      expect(durationMs).toBeLessThan(timings.queueMs + timings.pullMs);
    }
    expect(phases).toEqual(["queue", "pull", "pull", "pull", "pull", "schedule", "start", "started", "finished"]);
  });
});

test("a time limit counts from the command's first instruction", async () => {
  await withPlace({ start: { queueMs: 300 } }, async ({ runtime }) => {
    const output = await runtime.execute("exit-with", ["3"], { timeoutMs: 150 });
    expect(output).toMatchObject({ outcome: "completed", exitCode: 3 });
  });
});

test("cancelling on the way to the start: nothing ran, and a retry is safe", async () => {
  await withPlace({ start: { queueMs: 60_000 } }, async ({ runtime, world }) => {
    const stop = new AbortController();
    const running = runtime.execute("exit-with", ["3"], { signal: stop.signal });
    await expect.poll(() => world.pending().executions).toBe(1);
    stop.abort();
    await expect(running).rejects.toMatchObject({ code: "cancelled_before_start", started: "no" });
  });
});

test.each(["image_not_found", "image_pull_failed", "start_timeout", "start_failed", "backend_unavailable"] as const)(
  "a start that fails with %s is thrown as that, early or late",
  async (code) => {
    for (const late of [false, true]) {
      const start = { pullSteps: 1, pullMs: 1, failWith: { code, message: "Scripted", late } };
      await withPlace({ start }, async ({ runtime }) => {
        await expect(runtime.execute("exit-with", ["0"])).rejects.toMatchObject({ code, message: "Scripted" });
      });
    }
  },
);

test.each(["evicted", "preempted", "node_lost", "deleted", "daemon_restarted", "connection_lost"] as const)(
  "a command that is lost (%s) has no exit code, and keeps what it wrote",
  async (cause) => {
    await withPlace({ loss: { afterMs: 30, cause } }, async ({ runtime }) => {
      const output = await runtime.execute("two-sleepers");
      expect(output).toMatchObject({ outcome: "lost", cause, exitCode: null, signal: null, stdout: "ready\n" });
    });
  },
);

test("a command that was stopped before it was lost was stopped", async () => {
  await withPlace({ loss: { afterMs: 300, cause: "evicted" } }, async ({ runtime }) => {
    const output = await runtime.execute("ignore-term", [], { timeoutMs: 100 });
    expect(output).toMatchObject({ outcome: "timed_out", cause: null });
  });
});

test("what cannot be removed stands in the warnings, and the result waits for the release", async () => {
  const leftovers = [{ kind: "container", name: "prx-1", reason: "the daemon does not answer" }];
  await withPlace({ leftovers, slowReleaseMs: 60 }, async ({ runtime }) => {
    const before = performance.now();
    const output = await runtime.execute("exit-with", ["0"]);
    expect(performance.now() - before).toBeGreaterThanOrEqual(55);
    expect(output.warnings).toEqual([{ code: "left_behind", message: expect.stringContaining("prx-1") }]);
    expect(output.durationMs).toBeLessThan(55);
  });
});

test("a backend that cannot be used is refused with its reason and its remedy", async () => {
  const availability = { available: false, reason: "The daemon is down", remedy: "Start it" } as const;
  const making = memoryRuntime({ world: memoryWorld(), availability });
  await expect(making).rejects.toMatchObject({
    code: "backend_unavailable",
    message: expect.stringMatching(/daemon is down.*Start it/s),
  });
});

test("an isolation clause that cannot be kept is refused by default, and accepted by name only", async () => {
  const world = memoryWorld();
  const grades = { network: "impossible", filesystem: "weaker" } as const;
  const strict = await memoryRuntime({ world, grades });
  const refusal = strict.execute("exit-with", ["0"]);
  await expect(refusal).rejects.toMatchObject({ code: "policy_unenforceable", started: "no" });
  await expect(refusal).rejects.toThrow(/network.*filesystem/s);
  const half = await memoryRuntime({ world, grades }, { config: { security: { accept_weaker: ["network"] } } });
  await expect(half.execute("exit-with", ["0"])).rejects.toThrow("filesystem");
  const config = { security: { accept_weaker: ["network", "filesystem"] } };
  const lenient = await memoryRuntime({ world, grades }, { config });
  const { warnings } = await lenient.execute("exit-with", ["0"]);
  expect(warnings.map(({ code }) => code)).toEqual(["weaker_network", "weaker_filesystem"]);
  await Promise.all([strict.close(), half.close(), lenient.close()]);
});

test("a default limit that cannot be had is only a warning", async () => {
  const policy = { limits: { memoryBytes: 1000, cpus: null, cpuTimeMs: null, pids: 5, openFiles: null } };
  const grades = { memory: "impossible", pids: "weaker" } as const;
  await withPlace({ grades, policy }, async ({ runtime }) => {
    const { warnings } = await runtime.execute("exit-with", ["0"]);
    expect(warnings.map(({ code }) => code)).toEqual(["weaker_memory", "weaker_pids"]);
  });
});

test("a request cannot reach further than the operator's policy", async () => {
  await withPlace({ policy: { network: "cluster" } }, async ({ runtime }) => {
    expect((await runtime.explain("cat", [], { network: "all" })).plan.network).toBe("cluster");
    expect((await runtime.explain("cat", [], { network: "none" })).plan.network).toBe("none");
  });
});

test("closing one replica leaves the other's work alone", async () => {
  const world = memoryWorld();
  const [one, two] = [await memoryRuntime({ world }), await memoryRuntime({ world })];
  const running = two.execute("sleep", ["0.2"]);
  await expect.poll(() => world.processes().length).toBe(1);
  await one.close();
  expect(await running).toMatchObject({ outcome: "completed", exitCode: 0 });
  await two.close();
  expect(world.pending()).toEqual(atRest);
});

/** The memory adapter keeps the seam's promises: streams, stdin, files, endings, and the order in which they settle. */

import { expect, test } from "vitest";
import { memoryWorld } from "../../adapters/memory.ts";
import { RuntimeError } from "../../src/errors.ts";
import { adapterOf, never, noIo, planFor, readAll, readText } from "./memory-plan.ts";

test("a program's output, code and duration come out, in the promised order", async () => {
  const adapter = await adapterOf({
    programs: {
      greet: async ({ argv, stdout, stderr }) => {
        await stdout.write(`hello ${argv[1]}`);
        await stderr.write("aside");
        return 3;
      },
    },
    slowReleaseMs: 5,
  });
  const execution = await adapter.start(planFor(["greet", "you"]), noIo, never());
  const order: string[] = [];
  const settled = [
    execution.ended.then(() => order.push("ended")),
    execution.outputs.then(() => order.push("outputs")),
    execution.released.then(() => order.push("released")),
  ];
  expect(await readText(execution.stdout)).toBe("hello you");
  expect(await readText(execution.stderr)).toBe("aside");
  expect(await execution.ended).toMatchObject({ kind: "exited", code: 3 });
  await Promise.all(settled);
  expect(order).toEqual(["ended", "outputs", "released"]);
});

test("a slow reader slows the program", async () => {
  let written = 0;
  const adapter = await adapterOf({
    programs: {
      flood: async ({ stdout }) => {
        for (;;) {
          await stdout.write(new Uint8Array(1000));
          written += 1000;
        }
      },
    },
  });
  const stop = new AbortController();
  const execution = await adapter.start(planFor(["flood"]), noIo, stop.signal);
  const reader = execution.stdout.getReader();
  await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const before = written;
  expect(before).toBeLessThan(200_000);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(written).toBe(before);
  stop.abort();
  expect(await execution.ended).toMatchObject({ kind: "signaled", signal: "SIGTERM", number: 15 });
});

test("stdin: none is an end of file, inline and streams arrive whole", async () => {
  const programs = { cat: async ({ stdin, stdout }: Parameters<Program>[0]) => copy(stdin, stdout) };
  const adapter = await adapterOf({ programs });
  const none = await adapter.start(planFor(["cat"]), noIo, never());
  expect(await readText(none.stdout)).toBe("");
  const bytes = crypto.getRandomValues(new Uint8Array(60_000)).slice();
  const inline = await adapter.start(planFor(["cat"], { stdin: "inline" }), { ...noIo, stdin: bytes }, never());
  expect(await readAll(inline.stdout)).toEqual(bytes);
  const stream = await adapter.start(planFor(["cat"], { stdin: "stream" }), noIo, never());
  const writer = stream.stdin?.getWriter();
  void writer?.write(bytes).then(() => writer.close());
  expect(await readAll(stream.stdout)).toEqual(bytes);
});

test("a write to stdin rejects once the program is over or has closed it", async () => {
  const adapter = await adapterOf({
    programs: {
      deaf: async () => {},
      closer: async ({ stdin, stdout, sleep }) => {
        await stdin.cancel();
        await stdout.write("closed");
        await sleep(Number.POSITIVE_INFINITY);
      },
    },
  });
  const deaf = await adapter.start(planFor(["deaf"], { stdin: "stream" }), noIo, never());
  await deaf.ended;
  await expect(deaf.stdin?.getWriter().write(new Uint8Array(10))).rejects.toThrow();
  const stop = new AbortController();
  const closer = await adapter.start(planFor(["closer"], { stdin: "stream" }), noIo, stop.signal);
  await closer.stdout.getReader().read();
  await expect(closer.stdin?.getWriter().write(new Uint8Array(10))).rejects.toThrow("closed its stdin");
  stop.abort();
  await closer.released;
});

test("a program that ignores TERM is ended by force after the grace period, and writes no more", async () => {
  let late: unknown;
  const adapter = await adapterOf({
    programs: {
      stubborn: async ({ trap, stdout, signal }) => {
        trap();
        await stdout.write("ready");
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        await stdout.write(" still here");
        await new Promise((resolve) => setTimeout(resolve, 100));
        await stdout.write("too late").catch((error: unknown) => {
          late = error;
        });
      },
      tidy: async ({ trap, sleep, exit }) => {
        trap(() => exit(3));
        await sleep(Number.POSITIVE_INFINITY);
      },
    },
  });
  const stop = new AbortController();
  const execution = await adapter.start(planFor(["stubborn"]), noIo, stop.signal);
  const tidy = await adapter.start(planFor(["tidy"]), noIo, stop.signal);
  await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort();
  expect(await tidy.ended).toMatchObject({ kind: "exited", code: 3 });
  expect(await execution.ended).toMatchObject({ kind: "signaled", signal: "SIGKILL", number: 9 });
  expect(await readText(execution.stdout)).toBe("ready still here");
  await expect.poll(() => late).toMatchObject({ name: "ProcessOver" });
});

test("what a program began in the background ends with it", async () => {
  const world = memoryWorld();
  const adapter = await adapterOf({
    world,
    programs: {
      parent: async ({ spawn }) => spawn(({ sleep }) => sleep(Number.POSITIVE_INFINITY), ["child"]),
    },
  });
  const execution = await adapter.start(planFor(["parent"]), noIo, never());
  expect(await execution.ended).toMatchObject({ kind: "exited", code: 0 });
  await execution.released;
  expect(world.processes()).toEqual([]);
  expect(world.pending()).toEqual({ timers: 0, executions: 0, prepared: 0 });
});

test.each([
  ["exit code", { kind: "exited", code: 124 }],
  ["suicide", { kind: "signaled", signal: "SIGSEGV", number: 11 }],
  ["throw", { kind: "exited", code: 1 }],
  ["memory", { kind: "out_of_memory", number: 9 }],
])("an ending by %s is told as it was", async (name, exit) => {
  const adapter = await adapterOf({
    programs: {
      "exit code": async () => 124,
      suicide: async ({ killSelf }) => killSelf("SIGSEGV"),
      throw: async () => {
        throw new Error("broken");
      },
      memory: async ({ allocate }) => {
        for (;;) allocate(600);
      },
    },
  });
  const plan = planFor([name]);
  const limited = { ...plan, limits: { ...plan.limits, memoryBytes: 1000 } };
  const execution = await adapter.start(limited, noIo, never());
  expect(await execution.ended).toMatchObject(exit);
  if (name === "throw") expect(await readText(execution.stderr)).toBe("throw: broken\n");
});

test("a place without signals and without stderr tells codes and merges", async () => {
  const adapter = await adapterOf({
    capabilities: { reportsSignal: false, separateStderr: false },
    programs: {
      both: async ({ stdout, stderr, killSelf }) => {
        await stdout.write("out ");
        await stderr.write("err");
        return killSelf("SIGTERM");
      },
    },
  });
  const execution = await adapter.start(planFor(["both"]), noIo, never());
  expect(await execution.ended).toMatchObject({ kind: "exited", code: 143 });
  expect(await readText(execution.stdout)).toBe("out err");
  expect(await readText(execution.stderr)).toBe("");
});

test("what cannot be run is refused before anything begins", async () => {
  const world = memoryWorld({ files: { "/data/notes.txt": "x" } });
  const adapter = await adapterOf({ world, programs: { ok: async () => {} } });
  const start = (argv: [string], workingDir: string | null = null) =>
    adapter.start(planFor(argv, { workingDir }), noIo, never());
  await expect(start(["nope"])).rejects.toMatchObject({ code: "command_not_found", started: "no" });
  await expect(start(["toString"])).rejects.toMatchObject({ code: "command_not_found" });
  await expect(start(["/data/notes.txt"])).rejects.toMatchObject({ code: "not_executable" });
  await expect(start(["ok"], "/no/such")).rejects.toMatchObject({ code: "working_dir_not_found" });
  await expect(start(["ok"], "/data/notes.txt")).rejects.toMatchObject({ code: "working_dir_not_a_directory" });
  const aborted = adapter.start(planFor(["ok"]), noIo, AbortSignal.abort());
  await expect(aborted).rejects.toMatchObject({ code: "cancelled_before_start" });
  expect(world.pending().executions).toBe(0);
});

test("a scripted start is told step by step, can fail early and late, and can be cancelled", async () => {
  const world = memoryWorld();
  const programs = { ok: async () => {} };
  const slow = { queueMs: 1, pullSteps: 2, pullMs: 2, scheduleMs: 1 };
  const adapter = await adapterOf({ world, programs, start: slow });
  const execution = await adapter.start(planFor(["ok"]), noIo, never());
  const phases: string[] = [];
  for await (const { phase, fraction } of execution.progress) phases.push(`${phase} ${fraction ?? ""}`);
  expect(phases).toEqual(["queue ", "pull 0.5", "pull 1", "schedule ", "start "]);
  await execution.released;

  const early = await adapterOf({ world, programs, start: { failWith: { code: "image_not_found" } } });
  await expect(early.start(planFor(["ok"]), noIo, never())).rejects.toMatchObject({ code: "image_not_found" });
  const late = await adapterOf({ world, programs, start: { failWith: { code: "start_timeout", late: true } } });
  const failed = await late.start(planFor(["ok"]), noIo, never());
  await expect(failed.ended).rejects.toBeInstanceOf(RuntimeError);

  const endless = await adapterOf({ world, programs, start: { queueMs: Number.POSITIVE_INFINITY } });
  const stop = new AbortController();
  const waiting = await endless.start(planFor(["ok"]), noIo, stop.signal);
  stop.abort();
  await expect(waiting.ended).rejects.toMatchObject({ code: "cancelled_before_start" });
  await waiting.released;
  expect(world.pending()).toEqual({ timers: 0, executions: 0, prepared: 0 });
});

type Program = (process: {
  stdin: ReadableStream<Uint8Array>;
  stdout: { write(data: Uint8Array): Promise<void> };
}) => Promise<void>;

async function copy(...[from, to]: [ReadableStream<Uint8Array>, { write(data: Uint8Array): Promise<void> }]) {
  for await (const chunk of from) await to.write(chunk);
}

/** How guests end: codes, traps, time and memory, on every engine. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import type { Runtime } from "../../mod.ts";
import { need } from "../fixtures/needed.ts";
import { runtimeName } from "../fixtures/runtimes.ts";
import { guest, wasmObstacle } from "../rig/wasm/place.ts";
import { engines, wasmRuntime, withCache } from "./backend-target.ts";

const obstacle = wasmObstacle();
test("an engine and guests are there", (context) => need(context, obstacle));

const mib = 1024 * 1024;
const emptyCache = mkdtempSync(join(tmpdir(), "prx-wasm-cache-"));
afterAll(() => rmSync(emptyCache, { recursive: true, force: true }));

describe.skipIf(obstacle !== null).each(engines)("%s", (engine) => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await wasmRuntime(engine, { wasm: { max_memory_mb: 64 }, runtime: { max_output_bytes: 6 * mib } });
  });
  afterAll(() => runtime.close());
  const run = (name: string, args: readonly string[] = [], options = {}) => runtime.execute(guest(name), args, options);

  it.each([0, 1, 2, 7, 42, 125, 126, 127, 128, 134, 137, 200, 254, 255])(
    "exit code %i is told as it is",
    async (code) => {
      const output = await run("wat/exit-with", [String(code)]);
      expect(output).toMatchObject({ outcome: "completed", exitCode: code, stderr: "", warnings: [] });
    },
  );

  it.each([
    [256, 0],
    [-1, 255],
  ])("exit code %i is told by its low eight bits", async (code, told) => {
    expect((await run("wat/exit-with", [String(code)])).exitCode).toBe(told);
  });

  it("a guest that has closed its stderr has its code by jco, and by wasmtime small ones and 1", async () => {
    const exitCode = engine === "jco" ? 200 : 1;
    expect(await run("wat/close-stderr")).toMatchObject({ outcome: "completed", exitCode, stderr: "" });
  });

  it.each([
    ["unreachable", /unreachable/i],
    ["recursion", /stack/],
  ])("%s is a trap", async (name, says) => {
    const output = await run(`wat/${name}`);
    expect(output).toMatchObject({ outcome: "completed", exitCode: 134, stdout: "" });
    expect(output.warnings).toEqual([{ code: "trapped", message: expect.stringMatching(says) }]);
    expect(output.stderr).toMatch(/trap/);
  });

  it("a component exits with 0 or 1, and its trap is one", async () => {
    expect((await run("contract/wasip2", ["exit-with", "0"])).exitCode).toBe(0);
    expect((await run("contract/wasip2", ["exit-with", "1"])).exitCode).toBe(1);
    expect(await run("contract/wasip2", ["eat-memory", String(200 * mib)])).toMatchObject({ outcome: "out_of_memory" });
  });

  it.each(["loop", "loop-in-start-section", "sleep"])(
    "%s is ended in time, and the host is not held up",
    async (name) => {
      let ticks = 0;
      const timer = setInterval(() => {
        ticks += 1;
      }, 50);
      const output = await run(`wat/${name}`, [], { timeoutMs: 1000 });
      clearInterval(timer);
      expect(output.outcome).toBe("timed_out");
      expect(output.durationMs).toBeLessThan(8000);
      expect(ticks).toBeGreaterThan(5);
    },
  );

  it("is cancelled in a loop", async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 300);
    expect((await run("wat/loop", [], { signal: stop.signal })).outcome).toBe("cancelled");
  });

  it("a module that takes longer to compile than guests may run is given up, and not run", async () => {
    // What an earlier run of the tests has compiled is elsewhere.
    await using hasty = await withCache(emptyCache, () =>
      wasmRuntime(engine, { wasm: { timeout_secs: engine === "jco" ? 0.1 : 0.7 } }),
    );
    await expect(hasty.execute(guest("wat/slow-to-compile"))).rejects.toMatchObject({
      ...{ code: "start_timeout", started: "no" },
    });
  });

  it("a memory stays within the limit", async () => {
    expect(await run("wat/grow-memory")).toMatchObject({ outcome: "completed", exitCode: 0 });
  });

  it("several memories stay within the limit together, where an engine has several", async () => {
    const running = run("wat/two-memories");
    if (engine === "jco") await expect(running).rejects.toMatchObject({ code: "not_executable" });
    else expect(await running).toMatchObject({ outcome: "completed", exitCode: 0 });
  });

  it("a table does not grow for ever", async ({ skip }) => {
    if (engine === "jco" && runtimeName === "bun") skip("Bun has no limit for its own heap");
    const output = await run("wat/grow-table", [], { timeoutMs: 20_000 });
    // In the engine's own heap, which has a limit too.
    if (engine === "jco") expect(output).toMatchObject({ outcome: "out_of_memory" });
    else expect(output).toMatchObject({ outcome: "completed", exitCode: 0 });
  });

  it("want of memory is told as such", async () => {
    const eat = (bytes: number) => run("contract/wasip1", ["eat-memory", String(bytes)]);
    expect(await eat(100 * mib)).toMatchObject({ outcome: "out_of_memory", exitCode: 137 });
    expect(await eat(10 * mib)).toMatchObject({ outcome: "completed", exitCode: 0 });
  });

  it.each([
    ["minimum-4-gib", "policy_unenforceable", "4096 MiB of memory, and 64 MiB is the limit"],
    ["no-start", "not_executable", "exports no _start"],
    ["unknown-import", "not_executable", "env.mystery"],
    ["imported-memory", "not_executable", "imports"],
  ])("%s is refused before anything runs", async (name, code, says) => {
    const running = run(`wat/${name}`);
    await expect(running).rejects.toMatchObject({ code, backend: "wasm", started: "no" });
    await expect(running).rejects.toThrow(says);
  });

  it.each(["one-write", "many-writes"])("%s: five megabytes arrive, and the exit code with them", async (name) => {
    const whole = await run(`wat/${name}`, [], { maxOutputBytes: 6 * mib });
    expect([whole.exitCode, whole.stdoutBytes.length, whole.stdoutTruncated]).toEqual([3, 5 * mib, false]);
    const cut = await run(`wat/${name}`, [], { maxOutputBytes: mib });
    expect([cut.exitCode, cut.stdoutBytes.length, cut.stdoutTotalBytes]).toEqual([3, mib, 5 * mib]);
  });

  it("no stdin is an end, and one that is given arrives", async () => {
    expect((await run("wat/read-stdin")).exitCode).toBe(0);
    expect((await run("wat/read-stdin", [], { stdin: "hello" })).exitCode).toBe(5);
  });

  it("a program of Go runs, with its files, variables and arguments", async () => {
    const asked = { timeoutMs: 60_000, files: { "in.txt": "from the host" }, outputs: ["out.txt"], env: { A: "b" } };
    expect((await run("go", ["args", "x y", ""], asked)).stdout).toContain("x y");
    expect((await run("go", ["env"], asked)).stdout).toContain("A=b");
    expect((await run("go", ["read", "in.txt"], asked)).stdout).toBe("from the host");
    const written = await run("go", ["write", "out.txt", "from the guest"], asked);
    expect(new TextDecoder().decode(written.files["out.txt"])).toBe("from the guest");
    expect((await run("go", ["exit", "200"], asked)).exitCode).toBe(200);
    expect((await run("go", ["yield"], { timeoutMs: 1000 })).outcome).toBe("timed_out");
  });
});

/** The runtime: one way from a request to its result, nothing running after its close, and nothing run by explaining. */

import { describe, expect, test } from "vitest";
import { type MemoryOptions, memory } from "../../adapters/memory.ts";
import type { BackendEntry } from "../../src/backend.ts";
import type { Host } from "../../src/host.ts";
import { assembleRuntime } from "../../src/runtime.ts";
import type { ExecutionEvent } from "../../src/runtime-types.ts";
import type { Warning } from "../../src/types.ts";
import { allEnforced, codesOf, configOf, entryOf, hostOf } from "./core-parts.ts";

const programs: MemoryOptions["programs"] = {
  echo: async ({ argv, env, stdout, stderr }) => {
    await stdout.write(argv.slice(1).join(" "));
    await stderr.write(
      Object.keys(env)
        .map((name) => `${name}=${env[name]}`)
        .join(" "),
    );
  },
  sleep: async ({ sleep }) => sleep(Number.POSITIVE_INFINITY),
};
const memoryEntry = (options: Partial<MemoryOptions> = {}): BackendEntry => ({
  name: options.name ?? "memory",
  load: async () => memory({ programs, ...options }),
});

interface Given {
  readonly config?: { readonly runtime?: object; readonly security?: object; readonly tools?: object };
  readonly entries?: readonly BackendEntry[];
  readonly host?: Host;
  readonly log?: (message: Warning) => void;
}

function runtimeOf({ config, entries = [memoryEntry()], host = hostOf(), log }: Given = {}) {
  const runtime = { backend: "memory", ...config?.runtime };
  return assembleRuntime({ config: configOf({ ...config, runtime }), entries, host, log });
}

test("one way from request to result", async () => {
  const told: Warning[] = [];
  const runtime = await runtimeOf({ log: (message) => told.push(message) });
  expect([runtime.name, await runtime.isAvailable()]).toEqual(["memory", true]);
  expect(told).toEqual([{ code: "backend_chosen", message: "memory: Chosen by runtime.backend" }]);
  const output = await runtime.execute("echo", ["héllo", "you"], { env: { A: "1" }, maxOutputBytes: 2 });
  expect(output).toMatchObject({
    ...{ backend: "memory", outcome: "completed", exitCode: 0, signal: null, cause: null, files: {}, warnings: [] },
    ...{ stdout: "h", stdoutTruncated: true, stdoutTotalBytes: 10 },
    ...{ stderr: "A=", stderrTruncated: true, stderrTotalBytes: 3 },
  });
  expect(output.stdoutBytes).toEqual(Uint8Array.of(0x68, 0xc3));
});

describe("which backend", () => {
  const isolating = () => [memoryEntry(), memoryEntry({ name: "docker" }), memoryEntry({ name: "native" })];

  test("is the tool's own, and the request's only where it isolates no less", async () => {
    const own = { type: "command", command: "echo" };
    const custom = { a: { ...own, backend: "docker" }, b: { ...own, backend: "native" } };
    const runtime = await runtimeOf({ config: { tools: { custom } }, entries: isolating() });
    const backendOf = async (...[command, backend]: readonly [string, string?]) =>
      (await runtime.execute(command, [], backend === undefined ? {} : { backend })).backend;
    expect(await backendOf("echo")).toBe("memory");
    expect(await backendOf("a")).toBe("docker");
    expect(await backendOf("b")).toBe("native");
    expect(await backendOf("b", "native")).toBe("native");
    expect(await backendOf("b", "docker")).toBe("docker");
    expect(await backendOf("echo", "docker")).toBe("docker");
    for (const command of ["echo", "a"]) {
      const attempt = backendOf(command, "native");
      await expect(attempt).rejects.toMatchObject({ code: "backend_not_allowed", backend: "native", started: "no" });
    }
    await expect(backendOf("echo", "wasm")).rejects.toMatchObject({ code: "backend_unavailable", backend: "wasm" });
  });

  test("is loaded when it is first needed, and once", async () => {
    const loads: string[] = [];
    const counted = isolating().map((entry) => ({
      ...entry,
      load: async () => {
        loads.push(entry.name);
        return memory({ programs, name: entry.name });
      },
    }));
    const runtime = await runtimeOf({ entries: counted });
    expect(loads).toEqual(["memory"]);
    await Promise.all([1, 2, 3].map(() => runtime.execute("echo", [], { backend: "docker" })));
    expect(loads).toEqual(["memory", "docker"]);
  });
});

describe("what cannot be kept", () => {
  const entries = [memoryEntry({ grades: { memory: "weaker", network: "impossible" } })];
  const options = { limits: { memoryBytes: 1 } };

  test("is refused before anything runs, and shown by explain", async () => {
    const runtime = await runtimeOf({ entries });
    const attempt = runtime.execute("echo", [], options);
    await expect(attempt).rejects.toMatchObject({ code: "policy_unenforceable", backend: "memory", started: "no" });
    const { refused, clauses } = await runtime.explain("echo", [], options);
    expect(clauses.filter(({ accepted }) => !accepted).map(({ clause }) => clause)).toEqual(["network", "memory"]);
    await expect(attempt).rejects.toThrow(refused ?? "nothing");
  });

  test("stands in every result where the operator accepts it, beside what was narrowed", async () => {
    const config = { security: { accept_weaker: ["memory", "network"] } };
    const runtime = await runtimeOf({ entries, config });
    const { warnings } = await runtime.execute("echo", [], { ...options, maxOutputBytes: 2 ** 40 });
    expect(codesOf(warnings)).toEqual(["narrowed", "weaker_network", "weaker_memory"]);
  });
});

describe("a request", () => {
  test("is refused at the door with its own code, by every way in", async () => {
    const runtime = await runtimeOf();
    const refused = { code: "invalid_request", started: "no" };
    await expect(runtime.execute("")).rejects.toMatchObject(refused);
    await expect(runtime.stream("echo", ["\0"]).next()).rejects.toMatchObject(refused);
    await expect(runtime.explain("echo", [], { timeoutMs: -1 })).rejects.toMatchObject(refused);
    await expect(runtime.execute("echo", [], { tool: "none" })).rejects.toMatchObject({ code: "tool_not_found" });
  });

  test("is what it was when it was made: its objects may be used for the next one", async () => {
    const runtime = await runtimeOf();
    const env: Record<string, string> = {};
    const args: string[] = [];
    const outputs = await Promise.all(
      [1, 2, 3].map((number) => {
        env["N"] = args[0] = String(number);
        return runtime.execute("echo", args, { env });
      }),
    );
    expect(outputs.map(({ stdout, stderr }) => `${stdout} ${stderr}`)).toEqual(["1 N=1", "2 N=2", "3 N=3"]);
  });

  test("as a stream says who it is, and what came of it", async () => {
    const runtime = await runtimeOf();
    const events: ExecutionEvent[] = [];
    for await (const event of runtime.stream("echo", ["hi"], { maxOutputBytes: 2 ** 40 })) events.push(event);
    const [started] = events.filter(({ type }) => type === "started");
    const last = events.at(-1);
    expect(last).toMatchObject({ type: "finished", output: { stdoutTotalBytes: 2, stdout: "", backend: "memory" } });
    expect(started).toMatchObject({ backend: "memory", id: last?.type === "finished" ? last.output.id : "" });
    expect(last?.type === "finished" ? codesOf(last.output.warnings) : []).toEqual(["narrowed"]);
  });
});

describe("explain", () => {
  test("runs nothing, and tells plan, lowering, verdicts and every candidate", async () => {
    let starts = 0;
    const start = () => {
      starts += 1;
      return Promise.reject(new Error("It ran"));
    };
    const lower = () => ({
      ...{ artifact: "s3cret", text: "words", verdicts: allEnforced, addedEnv: ["HOSTNAME"] },
      warnings: [{ code: "uncontained", message: "Not held" }],
    });
    const entries = [entryOf("memory", { start, lower }), entryOf("docker"), entryOf("native")];
    const runtime = await runtimeOf({ entries });
    const told = await runtime.explain("x", ["y"], { env: { KEY: "s3cret" }, stdin: "s3cret", files: { a: "s3cret" } });
    expect(starts).toBe(0);
    expect(JSON.stringify(told)).not.toContain("s3cret");
    expect(told).toMatchObject({
      plan: { argv: ["x", "y"], env: { KEY: "<redacted>" }, stdin: "inline", files: [{ path: "a", bytes: 6 }] },
      ...{ lowering: "words", refused: null, addedEnv: ["HOSTNAME"], warnings: [{ code: "uncontained" }] },
    });
    expect(told.candidates.map(({ backend, chosen }) => [backend, chosen])).toEqual([
      ["docker", false],
      ["wasm", false],
      ["native", false],
      ["memory", true],
    ]);
  });
});

/** What goes wrong on the caller's side, or is made to by a command, against real processes. */

import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createRuntime, type ExecuteOptions } from "../../mod.ts";

const work = mkdtempSync(join(tmpdir(), "prx-faults-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));
const native = () => createRuntime({ runtime: { backend: "native" } });
const onLinux = process.platform === "linux";

describe("stdin", () => {
  test("a stream that another command reads is refused before anything runs", async () => {
    await using runtime = await native();
    const stdin = new ReadableStream<Uint8Array>();
    const marker = join(work, "ran");
    const first = runtime.execute("cat", [], { stdin, timeoutMs: 300 });
    const second = runtime.execute("touch", [marker], { stdin });
    await expect(second).rejects.toMatchObject({ code: "invalid_request", started: "no" });
    expect((await first).outcome).toBe("timed_out");
    expect(existsSync(marker)).toBe(false);
  });

  test("a stream is the caller's again when its command could not be started", async () => {
    await using runtime = await native();
    const stdin = new Response("text").body as ReadableStream<Uint8Array>;
    await expect(runtime.execute("no-such-command", [], { stdin })).rejects.toMatchObject({
      code: "command_not_found",
    });
    expect((await runtime.execute("cat", [], { stdin })).stdout).toBe("text");
  });

  test("bytes that were transferred are refused, whole or as a chunk of a stream", async () => {
    await using runtime = await native();
    const gone = new Uint8Array(4);
    structuredClone(gone, { transfer: [gone.buffer] });
    await expect(runtime.execute("cat", [], { stdin: gone })).rejects.toMatchObject({ code: "invalid_request" });
    const files = { a: gone };
    await expect(runtime.execute("true", [], { files })).rejects.toMatchObject({ code: "invalid_request" });
    const chunk = new Uint8Array(4);
    const stdin = new ReadableStream<Uint8Array>({
      start: (controller) => {
        structuredClone(chunk, { transfer: [chunk.buffer] });
        controller.enqueue(chunk);
      },
    });
    const out = await runtime.execute("cat", [], { stdin, timeoutMs: 5000 });
    expect([out.outcome, out.warnings[0]?.code]).toEqual(["cancelled", "stdin_failed"]);
  });

  test("what the caller does with the bytes afterwards changes nothing", async () => {
    await using runtime = await native();
    const stdin = new TextEncoder().encode("before");
    const run = runtime.execute("cat", [], { stdin });
    stdin.fill(0);
    expect((await run).stdout).toBe("before");
  });
});

describe("a request", () => {
  const refused = { code: "invalid_request", started: "no" };

  test.each([
    ["memoryBytes", 1e8 + 0.5],
    ["pids", 1.5],
    ["openFiles", 0.5],
    ["cpuTimeMs", 10.5],
  ])("with a limit of %s that is no whole number is refused", async (name, value) => {
    await using runtime = await native();
    await expect(runtime.execute("true", [], { limits: { [name]: value } })).rejects.toMatchObject(refused);
  });

  test("is read once: what its getters answer later does not count", async () => {
    await using runtime = await native();
    let asked = 0;
    const options = {
      get timeoutMs() {
        asked += 1;
        return asked === 1 ? 5000 : Number.NaN;
      },
    };
    expect((await runtime.execute("true", [], options)).exitCode).toBe(0);
    expect(asked).toBe(1);
  });

  test("that throws when it is read, or is no plain object, is refused", async () => {
    await using runtime = await native();
    const throwing = {
      get timeoutMs(): number {
        throw new Error("not today");
      },
    };
    const env = new Map([["A", "b"]]) as unknown as Record<string, string>;
    const inherited = Object.create({ timeoutMs: 5 }) as ExecuteOptions;
    for (const options of [throwing, { env }, inherited, new Date() as ExecuteOptions])
      await expect(runtime.execute("true", [], options)).rejects.toMatchObject(refused);
  });

  test("for more open files than the host may give gets those that there are", async ({ skip }) => {
    if (!onLinux) skip("the hard limit is only known on Linux");
    await using runtime = await native();
    const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    const { stdout } = await runtime.execute("sh", ["-c", "ulimit -n"], { limits: { openFiles: 2 ** 40 } });
    expect(stdout.trim()).toBe(hard);
  });
});

describe("close", () => {
  test("does not wait for a reader that went away in silence, and the last event says what was dropped", async () => {
    const runtime = await native();
    const events = runtime.stream("sh", ["-c", "echo one; echo two >&2; sleep 30"]);
    expect((await events.next()).value?.type).toBe("started");
    await runtime.close();
    const rest = [];
    for await (const event of events) rest.push(event);
    expect(rest.at(-1)).toMatchObject({ type: "finished", output: { outcome: "cancelled" } });
  });
});

describe("the native backend", () => {
  test("answers a file system that takes no directories", async ({ skip }) => {
    if (!onLinux) skip("there is no procfs here");
    await using runtime = await native();
    const run = runtime.execute("true", [], { workingDir: "/proc", files: { "a/b": "x" } });
    await expect(run).rejects.toMatchObject({ code: "files_failed", started: "no" });
  });

  test("hands no broken program to a shell", async ({ skip }) => {
    if (!onLinux) skip("ELF is Linux's");
    await using runtime = await native();
    const broken = join(work, "broken");
    writeFileSync(broken, "\x7fELFgarbage\necho from a shell\n");
    chmodSync(broken, 0o755);
    await expect(runtime.execute(broken)).rejects.toMatchObject({ code: "not_executable" });
  });

  test("refuses a tool whose image it cannot run", async () => {
    const custom = { boxed: { type: "command", command: "echo", image: "debian:bookworm-slim" } };
    await using runtime = await createRuntime({ runtime: { backend: "native" }, tools: { custom } });
    await expect(runtime.execute("boxed")).rejects.toMatchObject({ code: "policy_unenforceable" });
  });

  test.each(["GIT_CONFIG_PARAMETERS", "OPENSSL_CONF", "DOTNET_STARTUP_HOOKS", "npm_config_node_options"])(
    "takes no %s from a request",
    async (name) => {
      await using runtime = await native();
      await expect(runtime.execute("true", [], { env: { [name]: "x" } })).rejects.toThrow(name);
    },
  );

  test("goes on with other pipes when a command has put files in their place", async ({ skip }) => {
    if (!onLinux || "Deno" in globalThis || "Bun" in globalThis) skip("here the pipes have no names");
    await using runtime = await native();
    const replace =
      'd=$(dirname "$(readlink /proc/$$/fd/1)"); [ "${d##*/}" = pipes ] && for p in "$d"/*; do rm "$p"; : >"$p"; done';
    await runtime.execute("sh", ["-c", replace]);
    for (let run = 0; run < 12; run += 1) expect((await runtime.execute("echo", ["hi"])).stdout).toBe("hi\n");
  });
});

/** `run --json`: one object, whole, whatever the output and wherever it goes. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makePlace, prx, runtimeNames, runtimes, startArgv } from "./cli-process.ts";

const { folder, env } = makePlace(`
[runtime]
backend = "native"
max_output_bytes = 4000000
`);

describe.each(runtimeNames)("on %s", (runtime) => {
  const runJson = async (words: readonly string[], stdin?: string) => {
    const options = stdin === undefined ? { env } : { env, stdin };
    const { code, stdout, stderr } = await prx(runtime, ["run", "--json", ...words], options);
    expect(stderr).toBe("");
    expect(stdout.at(-1)).toBe(0x0a);
    return { code, json: JSON.parse(stdout.toString()) };
  };

  test("text, codes and times", async () => {
    const { code, json } = await runJson(["--", "sh", "-c", "cat; echo err >&2; exit 3"], "in é\n");
    expect(code).toBe(3);
    expect(json).toEqual({
      ...{ id: expect.any(String), backend: "native", outcome: "completed", exit_code: 3, signal: null, cause: null },
      ...{ stdout: "in é\n", stdout_truncated: false, stdout_total_bytes: 6 },
      ...{ stderr: "err\n", stderr_truncated: false, stderr_total_bytes: 4 },
      ...{ files: {}, warnings: expect.any(Array), duration_ms: expect.any(Number) },
      timings: { queue_ms: expect.any(Number), pull_ms: expect.any(Number), start_ms: expect.any(Number) },
    });
  });

  test("bytes that are no text, a cap, and files", async () => {
    const { json } = await runJson([
      "--max-output",
      "4",
      "--output",
      "f",
      "--",
      "sh",
      "-c",
      "printf 'abc\\377def' | tee f",
    ]);
    expect(json).toMatchObject({ stdout: "abc\uFFFD", stdout_truncated: true, stdout_total_bytes: 7 });
    expect(Buffer.from(json.stdout_base64, "base64").toString("latin1")).toBe("abc\xff");
    expect(Buffer.from(json.files.f, "base64").toString("latin1")).toBe("abc\xffdef");
  });

  test.each([
    ["a time limit", ["--timeout", "200ms", "--", "sleep", "20"], 124, { outcome: "timed_out" }],
    ["a signal", ["--", "sh", "-c", "kill -9 $$"], 137, { exit_code: 137, signal: "SIGKILL" }],
    [
      "no such command",
      ["--", "prx-no-such"],
      127,
      { error: { code: "command_not_found", backend: "native", started: "no" } },
    ],
    ["a wrong flag", ["--bad", "--", "x"], 64, { error: { code: "invalid_request", backend: null, started: "no" } }],
    ["a wrong value", ["--timeout", "x", "--", "x"], 64, { error: { code: "invalid_request" } }],
    ["no configuration", ["--config", "/no/such", "--", "x"], 78, { error: { code: "config_invalid" } }],
  ])("%s exits as it does without --json", async (_, words, expected, members) => {
    const { code, json } = await runJson(words);
    expect({ code, json }).toMatchObject({ code: expected, json: members });
  });

  test("the flag is ours only before the command", async () => {
    const { code, stdout, stderr } = await prx(runtime, ["run", "prx-no-such", "--json"], { env });
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 127, stdout: "" });
    expect(stderr).toContain("Command not found");
  });

  // Read late, through a pipe that is full long before: whatever is not awaited is lost.
  test.each(["pipe", "file"])("a megabyte and more arrives whole through a %s", async (kind) => {
    const file = join(folder, `${runtime}.json`);
    const into = kind === "pipe" ? `"$@" | (sleep 0.5; cat) >"$0"` : `"$@" >"$0"`;
    const script = "head -c 1000000 /dev/zero | tr '\\0' x; head -c 1000000 /dev/urandom >&2";
    const words = [...runtimes[runtime], "run", "--json", "--", "sh", "-c", script];
    await startArgv(["sh", "-c", into, file, ...words], { env }).ended;
    const json = JSON.parse(readFileSync(file, "utf8"));
    expect(json.stdout.length).toBe(1_000_000);
    expect(Buffer.from(json.stderr_base64, "base64").length).toBe(1_000_000);
  });
});

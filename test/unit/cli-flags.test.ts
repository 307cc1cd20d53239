/** What the program makes of its words and flags. */

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findCursor } from "../../cli/cursor.ts";
import { parseDuration } from "../../cli/duration.ts";
import { exitCodeOf } from "../../cli/exit-code.ts";
import { createProgram } from "../../cli/program.ts";
import { describeStep } from "../../cli/progress-line.ts";
import { type RequestFlags, readPair, readRequest } from "../../cli/request-flags.ts";
import { formatTable } from "../../cli/table.ts";

const folder = mkdtempSync(join(tmpdir(), "prx-cli-flags-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The words of `run` as they would be run, and its flags. */
async function parseRun(words: readonly string[]) {
  const program = createProgram({ write: () => {}, finish: () => {} });
  const run = program.commands.find((command) => command.name() === "run");
  let seen: { command: string; args: readonly string[]; flags: RequestFlags } | null = null;
  run?.action((command: string, args: readonly string[], flags: RequestFlags) => {
    seen = { command, args, flags };
  });
  await program.parseAsync(["run", ...words], { from: "user" });
  return seen;
}

describe("the words of run", () => {
  test.each([
    [
      ["--", "ls", "-la"],
      ["ls", "-la"],
    ],
    [
      ["ls", "-la"],
      ["ls", "-la"],
    ],
    [
      ["ls", "--", "-la"],
      ["ls", "--", "-la"],
    ],
    [
      ["--", "ls", "--", "--json", "--help"],
      ["ls", "--", "--json", "--help"],
    ],
    [
      ["--json", "ls", "--json", "-h"],
      ["ls", "--json", "-h"],
    ],
    [
      ["--", "--", "x"],
      ["--", "x"],
    ],
    [
      ["--", "", "two words", "a\nb", "é", "--env=x", "-"],
      ["", "two words", "a\nb", "é", "--env=x", "-"],
    ],
    [["help"], ["help"]],
    [
      ["run", "run"],
      ["run", "run"],
    ],
    [["--timeout", "-1", "ls"], ["ls"]],
  ])("%j run %j", async (words, [command, ...args]) => {
    expect(await parseRun(words)).toMatchObject({ command, args });
  });

  test("flags that repeat are collected, in order", async () => {
    const words = ["-e", "A=1", "--env=B", "--file", "a=b", "--file=c", "--output", "d", "-q", "--shell", "x"];
    expect(await parseRun(words)).toMatchObject({
      command: "x",
      flags: { env: ["A=1", "B"], file: ["a=b", "c"], output: ["d"], quiet: true, shell: true },
    });
  });

  test.each([
    [["--tiemout", "1", "ls"], "--timeout"],
    [["--network", "everything", "ls"], "none, cluster, all"],
    [[], "command"],
    [["--env"], "--env"],
  ])("%j is refused", async (words, part) => {
    await expect(parseRun(words)).rejects.toThrow(part);
  });
});

describe("a duration", () => {
  test.each([
    ["500ms", 500],
    ["2s", 2000],
    ["1.5m", 90_000],
    ["1h", 3_600_000],
    ["3", 3000],
    ["0.25", 250],
    ["0", 0],
    ["0s", 0],
    ["0.1ms", 1],
    ["1.1m", 66_000],
  ])("%s is %i ms", (text, milliseconds) => {
    expect(parseDuration(text, "--timeout")).toBe(milliseconds);
  });

  test.each(["", "s", "1d", "-1", "1 s", "1e3", "Infinity", ".5", "0x10", "1s2s", "9".repeat(40)])(
    "%j is none",
    (text) => {
      expect(() => parseDuration(text, "--timeout")).toThrow(/^--timeout is ".*": give a duration such as 500ms/);
    },
  );
});

describe("a request", () => {
  test("without flags asks for nothing", () => {
    expect(readRequest({})).toEqual({});
    expect(readRequest({ json: true, quiet: true, config: "x", stdin: "none" })).toEqual({});
  });

  test("has every flag in its own units", () => {
    const flags = {
      tool: "t",
      backend: "b",
      cwd: "d",
      network: "none",
      shell: true,
      timeout: "1s",
      maxOutput: "1k",
    } as const;
    expect(readRequest({ ...flags, memory: "1.5g", cpus: "500m", cpuTime: "2s", pids: "7", openFiles: "8" })).toEqual({
      ...{ tool: "t", backend: "b", workingDir: "d", network: "none", shell: true },
      ...{ timeoutMs: 1000, maxOutputBytes: 1024 },
      limits: { memoryBytes: 1_610_612_736, cpus: 0.5, cpuTimeMs: 2000, pids: 7, openFiles: 8 },
    });
  });

  test("variables: a value may have anything in it, a bare name has this process's, and the last one counts", () => {
    process.env["PRX_TEST_VARIABLE"] = "from here";
    const { env } = readRequest({ env: ["A=1", "B=x=y z", "EMPTY=", "PRX_TEST_VARIABLE", "__proto__=p", "A=2"] });
    expect(Object.entries(env ?? {})).toEqual([
      ["A", "2"],
      ["B", "x=y z"],
      ["EMPTY", ""],
      ["PRX_TEST_VARIABLE", "from here"],
      ["__proto__", "p"],
    ]);
    expect(() => readRequest({ env: ["PRX_NO_SUCH"] })).toThrow("Variable PRX_NO_SUCH is not set here");
  });

  test("files come with their mode", () => {
    const file = join(folder, "tool");
    writeFileSync(file, Uint8Array.of(0, 255));
    chmodSync(file, 0o755);
    const { files } = readRequest({ file: [`bin/tool=${file}`] });
    expect(files?.["bin/tool"]).toMatchObject({ executable: true });
    expect(() => readRequest({ file: ["a=/no/such/file"] })).toThrow("File /no/such/file cannot be read");
  });

  test("a pair is split at its first =", () => {
    expect(readPair("a")).toEqual({ path: "a", hostFile: "a", named: false });
    expect(readPair("a=b=c")).toEqual({ path: "a", hostFile: "b=c", named: true });
  });

  test.each([
    [{ pids: "1.5" }, "--pids is"],
    [{ pids: "0" }, "--pids is"],
    [{ openFiles: "x" }, "--open-files is"],
    [{ memory: "lots" }, "--memory:"],
    [{ cpus: "0" }, "--cpus:"],
    [{ maxOutput: "1q" }, "--max-output:"],
    [{ cpuTime: "soon" }, "--cpu-time is"],
  ])("%j is refused, and the flag is named", (flags, part) => {
    expect(() => readRequest(flags)).toThrow(part);
  });
});

describe("the exit code", () => {
  test.each([
    ["completed", 0, null, 0],
    ["completed", 3, null, 3],
    ["completed", 137, null, 137],
    ["completed", null, null, 125],
    ["completed", 0, 130, 0],
    ["timed_out", 143, null, 124],
    ["timed_out", 0, null, 124],
    ["cancelled", 0, 143, 143],
    ["cancelled", 0, null, 74],
    ["out_of_memory", null, null, 137],
    ["lost", null, null, 125],
  ] as const)("of %s with %s, interrupted by %s, is %i", (outcome, exitCode, interrupted, expected) => {
    expect(exitCodeOf({ outcome, exitCode }, interrupted)).toBe(expected);
  });
});

describe("the cursor", () => {
  const program = createProgram({ write: () => {}, finish: () => {} });

  test.each([
    [["ru"], "ours"],
    [["run", "--ba"], "ours"],
    [["run", "--backend", ""], "--backend"],
    [["run", "--backend=na"], "--backend"],
    [["run", "-b", "na"], "--backend"],
    [["run", "--json", "-c", "x", "--tool", ""], "--tool"],
    [["run", ""], "theirs"],
    [["run", "ls", "--ba"], "theirs"],
    [["run", "--", "--ba"], "theirs"],
    [["run", "--backend", "native", "l"], "theirs"],
    [["explain", "--cwd", ""], "--cwd"],
    [["config", "sh"], "ours"],
    [["completion", "ba"], "ours"],
  ])("in %j is at %s", (words, expected) => {
    const cursor = findCursor(program, words);
    expect(cursor.kind === "value" ? cursor.option.long : cursor.kind).toBe(expected);
  });
});

test("a table has its columns in line, whatever their style", () => {
  const paint = (_: unknown, text: string) => `<${text}>`;
  const table = formatTable(
    [
      ["a", ["bb", "red"], "c"],
      ["aaa", "b", "long one"],
    ],
    { paint },
  );
  expect(table).toBe("  a    <bb>  c\n  aaa  b   long one\n");
});

test("progress is one line without control characters", () => {
  const step = { phase: "pull", message: "layer\x1b[2J\r\n7", fraction: 0.419 } as const;
  expect(describeStep(step)).toBe("prx-runtime: pull: layer [2J 7 41%");
});

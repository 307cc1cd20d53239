/** `run`: what goes in and comes out, byte for byte, and what it exits with. */

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectGone, makePlace, prx, runtimeNames, runtimes, start, startArgv, textOf } from "./cli-process.ts";

const { folder, env } = makePlace(`
[runtime]
backend = "native"

[tools.custom.greet]
type = "command"
command = "echo"
args = ["hello"]
`);

const everyByte = Uint8Array.from({ length: 65_536 }, (_, index) => (index * 7 + (index >> 8)) & 255);

describe.each(runtimeNames)("on %s", (runtime) => {
  const run = (words: readonly string[], more: { stdin?: string | Uint8Array; cwd?: string } = {}) =>
    prx(runtime, ["run", ...words], { env, ...more });

  test("output is seen while the command still runs, and input reaches it then", async () => {
    const script = "echo first; read -r line; echo second $line; read -r line; echo third >&2";
    const { child, ended, saw } = start(runtime, ["run", "--", "sh", "-c", script], { env, stdin: "open" });
    await saw("first\n");
    child.stdin?.write("one\n");
    await saw("second one\n");
    child.stdin?.write("two\n");
    expect(textOf(await ended)).toEqual({ code: 0, stdout: "first\nsecond one\n", stderr: "third\n" });
  });

  test("every byte goes through, both ways", async () => {
    const stdin = Buffer.concat(Array.from({ length: 40 }, () => everyByte));
    const { code, stdout, stderr } = await run(["--", "cat"], { stdin });
    expect({ code, stderr, same: stdout.equals(stdin) }).toEqual({ code: 0, stderr: "", same: true });
  });

  test("every argument arrives as it was written", async () => {
    const words = [
      "",
      "two words",
      "\"q'",
      "$HOME",
      "*",
      "--json",
      "--",
      "-h",
      "line\nbreak",
      "é中",
      "\u{1F600}",
      "\uFFFD",
    ];
    const script = 'for word in "$@"; do printf "%s\\0" "$word"; done';
    const dashed = await run(["--", "sh", "-c", script, "name", ...words]);
    expect(dashed.stdout.toString().split("\0").slice(0, -1)).toEqual(words);
    const bare = await run(["sh", "-c", script, "name", ...words]);
    expect(bare.stdout.toString().split("\0").slice(0, -1)).toEqual(words);
  });

  test("a directory as stdin is an error, and not an empty input", async () => {
    const argv = ["sh", "-c", 'exec "$@" </', "sh", ...runtimes[runtime], "run", "--", "cat"];
    const { code, stderr } = await startArgv(argv, { env }).ended;
    expect(stderr).toContain("stdin is a directory");
    expect(code).toBe(74);
  });

  test("an argument that is no UTF-8 is refused instead of changed", async () => {
    const script = "exec \"$@\" run -- printf '%s' \"$(printf 'a\\377b')\"";
    const { code, stdout, stderr } = await startArgv(["sh", "-c", script, "sh", ...runtimes[runtime]], { env }).ended;
    expect({ code, stdout: stdout.length }).toEqual({ code: 64, stdout: 0 });
    expect(stderr).toContain("is not UTF-8");
  });

  test.each([
    ["an exit with 0", ["--", "true"], 0, ""],
    ["an exit with 3", ["--", "sh", "-c", "exit 3"], 3, ""],
    ["a signal", ["--", "sh", "-c", "kill -9 $$"], 137, ""],
    ["no such command", ["--", "prx-no-such-command"], 127, "Command not found: prx-no-such-command"],
    ["a file that is no program", ["--", "/etc/passwd"], 126, "Command cannot be executed: /etc/passwd"],
    ["a time limit", ["--timeout", "200ms", "--", "sleep", "20"], 124, "Timed out after 2"],
    ["no such directory", ["--cwd", "/no/such", "--", "true"], 66, "Working directory not found: /no/such"],
    ["no such tool", ["--tool", "none", "--", "true"], 64, 'Tool "none" is not configured'],
    ["a backend that is not there", ["--backend", "remote", "--", "true"], 69, "Backend remote cannot be used"],
    ["a policy that cannot be kept", ["--network", "none", "--", "true"], 77, "cannot keep the policy"],
    ["a flag that is not there", ["--tiemout", "2", "--", "true"], 64, "did you mean --timeout?"],
    ["no command", [], 64, "Missing required argument 'command'"],
  ])("%s", async (_, words, expected, message) => {
    const { code, stderr } = await run(words);
    expect(code).toBe(expected);
    if (message === "") expect(stderr).toBe("");
    else expect(stderr).toContain(`prx-runtime: `);
    expect(stderr).toContain(message);
  });

  test("a tool is called by its name, a shell line by its flag", async () => {
    expect(textOf(await run(["greet", "you"])).stdout).toBe("hello you\n");
    const words = ["--shell", "--env", "A=1", 'echo "$A $1" | tr a-z A-Z', "one"];
    expect(textOf(await run(words)).stdout).toBe("1 ONE\n");
  });

  test("stdin: a file, nothing, or what is there", async () => {
    const file = join(folder, "input");
    writeFileSync(file, everyByte);
    expect((await run(["--stdin", file, "--", "cat"])).stdout.equals(everyByte)).toBe(true);
    expect((await run(["--stdin", "none", "--", "cat"], { stdin: "x" })).stdout.length).toBe(0);
    expect((await run(["--stdin", "-", "--", "cat"], { stdin: "x" })).stdout.toString()).toBe("x");
    expect((await run(["--", "cat"])).stdout.length).toBe(0);
    expect(await run(["--stdin", "/no/such", "--", "cat"])).toMatchObject({ code: 74 });
    expect(await run(["--stdin", "/etc", "--", "cat"])).toMatchObject({ code: 74 });
  });

  test("an open stdin that the command does not read keeps nobody waiting", async () => {
    const { ended } = start(runtime, ["run", "--", "echo", "hi"], { env, stdin: "open" });
    expect(textOf(await ended)).toEqual({ code: 0, stdout: "hi\n", stderr: "" });
  });

  test("files go in with their mode and come out", async () => {
    const cwd = join(folder, `files-${runtime}`);
    mkdirSync(cwd);
    writeFileSync(join(cwd, "tool"), "#!/bin/sh\ncat data/in >result\n");
    chmodSync(join(cwd, "tool"), 0o755);
    writeFileSync(join(cwd, "in.bin"), everyByte);
    const files = ["--file", "tool", "--file", "data/in=in.bin", "--output", "result=out.bin"];
    expect(textOf(await run([...files, "--", "./tool"], { cwd }))).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(readFileSync(join(cwd, "out.bin")).equals(everyByte)).toBe(true);
    const lost = await run(["--file", "tool", "--output", "none", "--", "true"], { cwd });
    expect(lost.stderr).toMatch(/^prx-runtime: warning: Output none was not brought out/);
    const quiet = await run(["--quiet", "--file", "tool", "--output", "none", "--", "true"], { cwd });
    expect(quiet.stderr).toBe("");
    const unsaved = await run([...files.slice(0, 4), "--output", "result=/no/such/place", "--", "./tool"], { cwd });
    expect(unsaved.code).toBe(74);
  });

  test("a reader that leaves ends the command quietly", async () => {
    for (const script of ["exec yes", "exec yes >&2"]) {
      const pipe = '"$@" 2>&1 | head -n 2; echo "${PIPESTATUS[0]}"';
      const words = ["run", "--", "sh", "-c", `echo $$; ${script}`];
      const { ended } = startArgv(["bash", "-c", pipe, "bash", ...runtimes[runtime], ...words], { env });
      const [pid, line, code] = textOf(await ended).stdout.split("\n");
      expect({ line, code }).toEqual({ line: "y", code: "141" });
      await expectGone(Number(pid));
    }
  });

  test("a full disk is told, and is no success", async () => {
    const words = [...runtimes[runtime], "run", "--", "echo", "hi"];
    const { code, stderr } = await startArgv(["sh", "-c", 'exec "$@" >/dev/full', "sh", ...words], { env }).ended;
    expect(code).toBe(74);
    expect(stderr).toMatch(/^prx-runtime: Output could not be written to stdout: .*no space left/i);
  });

  test("a message begins on a line of its own", async () => {
    const script = "printf unfinished >&2; sleep 20";
    const { stderr } = await run(["--timeout", "300ms", "--", "sh", "-c", script]);
    expect(stderr).toMatch(/^unfinished\nprx-runtime: Timed out after /);
  });
});

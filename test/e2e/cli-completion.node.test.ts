/** Completion as bash does it: the script is sourced, and asked what may stand under the cursor. */

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { makePlace, prx, runtimeNames, runtimes, startArgv, textOf } from "./cli-process.ts";

const { folder, env } = makePlace(`
[runtime]
backend = "native"

[tools.custom.greet]
type = "command"
command = "echo"

[tools.custom.grep-all]
type = "command"
command = "grep"
`);

/** Sources the script, then completes the words as bash splits them; the last one is under the cursor. */
const asBash = `
prx-runtime() { "\${program[@]}" "$@"; }
program=("\${@:1:$1+1}"); program=("\${program[@]:1}"); shift $(($1 + 1))
source <(prx-runtime completion bash)
compopt() { :; }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
__prx_runtime_complete prx-runtime "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\\n' "\${COMPREPLY[@]}"
`;

const hasBash = spawnSync("bash", ["-c", "exit 0"]).status === 0;

beforeEach((context) => {
  if (!hasBash) context.skip("There is no bash here");
});

describe.each(runtimeNames)("on %s", (runtime) => {
  const complete = async (...words: string[]) => {
    const program = runtimes[runtime];
    const argv = ["bash", "-c", asBash, "bash", String(program.length), ...program, "prx-runtime", ...words];
    const { stdout, stderr } = textOf(await startArgv(argv, { env, cwd: folder }).ended);
    expect(stderr).toBe("");
    return stdout.split("\n").filter((line) => line !== "");
  };

  test.each([
    [["ru"], ["run"]],
    [["co"], ["config", "completion"]],
    [
      ["config", "s"],
      ["show", "schema"],
    ],
    [["completion", "b"], ["bash"]],
    [["run", "--backe"], ["--backend"]],
    [["run", "--backend", "na"], ["native"]],
    [["run", "--backend", "=", "na"], ["native"]],
    [["run", "--json", "-b", "do"], ["docker"]],
    [
      ["run", "--network", ""],
      ["none", "cluster", "all"],
    ],
    [
      ["run", "--tool", "gr"],
      ["greet", "grep-all"],
    ],
    [
      ["explain", "--tool", "gre"],
      ["greet", "grep-all"],
    ],
    [["run", "--tool", "gr", "--", "ru"], []],
    [["run", "ls", "--backe"], []],
    [["run", "--config", "pr"], []],
  ])("%j", async (words, expected) => {
    expect(await complete(...words)).toEqual(expected);
  });

  test("what is only being typed takes no effect", async () => {
    mkdirSync(join(folder, runtime));
    const file = join(folder, runtime, "precious");
    writeFileSync(file, "precious");
    await complete("run", "--", "echo", `$(rm ${file})`, ";", "rm", file, ">", file, "");
    const { stdout } = textOf(await startArgv(["cat", file], { env }).ended);
    expect(stdout).toBe("precious");
  });

  test("a wrong configuration disturbs nobody", async () => {
    const words = ["complete", "--", "run", "--config", "/no/such", "--tool", ""];
    expect(textOf(await prx(runtime, words, { env }))).toEqual({ code: 0, stdout: ":4\n", stderr: "" });
  });

  test.each([
    ["zsh", "#compdef prx-runtime"],
    ["fish", "complete -c prx-runtime"],
    ["powershell", "Register-ArgumentCompleter -CommandName 'prx-runtime'"],
  ])("there is a script for %s", async (shell, registration) => {
    const { code, stdout, stderr } = textOf(await prx(runtime, ["completion", shell], { env }));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(registration);
  });
});

test("another shell is refused", async () => {
  expect(textOf(await prx("node", ["completion", "tcsh"], { env }))).toMatchObject({
    code: 64,
    stderr: expect.stringContaining("bash, zsh, fish, powershell"),
  });
});

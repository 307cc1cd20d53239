/** What a signal to the program does: the command and everything it began is gone when the program is. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectGone, makePlace, runtimeNames, runtimes, start, textOf } from "./cli-process.ts";

const { folder, env } = makePlace();

/** Says its own pid and that of a child in the background, then lives on. */
const tree = "sleep 60 & echo $$ $!; wait";
const stubborn = `trap '' TERM INT; sleep 60 & echo $$ $!; while :; do wait; done`;

describe.each(runtimeNames)("on %s", (runtime) => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s ends the command and exits with %i", async (signal, expected) => {
    const { child, ended, saw } = start(runtime, ["run", "--", "sh", "-c", tree], { env, stdin: "open" });
    await saw("\n");
    child.kill(signal);
    const { code, stdout, stderr } = textOf(await ended);
    expect({ code, stderr }).toEqual({ code: expected, stderr: "" });
    for (const pid of stdout.trim().split(" ")) await expectGone(Number(pid));
  });

  test("a second SIGINT leaves nothing behind either", async () => {
    const { child, ended, saw } = start(runtime, ["run", "--", "sh", "-c", stubborn], { env });
    await saw("\n");
    child.kill("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 100));
    child.kill("SIGINT");
    const { code, stdout } = textOf(await ended);
    expect(code).toBe(130);
    for (const pid of stdout.trim().split(" ")) await expectGone(Number(pid));
  });

  test("what the command says when it is asked to stop is still handed on", async () => {
    const script = "trap 'echo bye; exit 7' TERM; echo $$; while :; do sleep 0.05; done";
    const { child, ended, saw } = start(runtime, ["run", "--", "sh", "-c", script], { env });
    await saw("\n");
    child.kill("SIGTERM");
    const { code, stdout } = textOf(await ended);
    expect({ code, last: stdout.split("\n")[1] }).toEqual({ code: 143, last: "bye" });
  });

  test("with --json the result says so", async () => {
    const file = join(folder, `pid-${runtime}`);
    const script = `echo $$ >"$0"; echo out; exec sleep 60`;
    const { child, ended } = start(runtime, ["run", "--json", "--", "sh", "-c", script, file], { env });
    await expect.poll(() => pidIn(file), { timeout: 10_000 }).toBeGreaterThan(1);
    child.kill("SIGTERM");
    const { code, stdout } = textOf(await ended);
    expect({ code, json: JSON.parse(stdout) }).toMatchObject({
      code: 143,
      json: { outcome: "cancelled", stdout: "out\n" },
    });
    await expectGone(pidIn(file));
  });

  describe("while nobody takes what is written", () => {
    const startStuck = (flags: readonly string[], file: string) => {
      const [program = "", ...args] = [...runtimes[runtime], "run", ...flags, "--"];
      const script = 'echo $$ >"$0"; exec yes';
      return spawn(program, [...args, "sh", "-c", script, file], { env, stdio: ["ignore", "pipe", "ignore"] });
    };

    test("a signal is heard", async () => {
      const file = join(folder, `stuck-${runtime}`);
      const child = startStuck([], file);
      await expect.poll(() => pidIn(file), { timeout: 10_000 }).toBeGreaterThan(1);
      child.kill("SIGTERM");
      const [code] = await once(child, "exit");
      child.stdout?.destroy();
      expect(code).toBe(143);
      await expectGone(pidIn(file));
    });

    test("the time limit holds", async () => {
      const file = join(folder, `late-${runtime}`);
      const child = startStuck(["--timeout", "500ms"], file);
      await expect.poll(() => pidIn(file), { timeout: 10_000 }).toBeGreaterThan(1);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await expectGone(pidIn(file));
      child.stdout?.resume();
      expect(await once(child, "exit")).toEqual([124, null]);
    });
  });
});

function pidIn(file: string): number {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return 0;
  }
}

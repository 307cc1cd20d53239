/** What a command in firejail's sandbox is given, and how a failure of the sandbox is told from one of the command. */

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRuntime } from "../../mod.ts";
import { withFirejail } from "../fixtures/firejail.ts";
import { linesOf, useFirejail } from "../fixtures/firejail-place.ts";

const given = useFirejail();
const { sh } = given;

describe("what a command is given", () => {
  test("its arguments, byte for byte, however many and long", async () => {
    const odd = [
      "",
      " ",
      "a b",
      "'",
      "''",
      `"`,
      "$HOME",
      "$(id)",
      "`id`",
      "\\",
      "\\n",
      "a\nb",
      "\t",
      "*",
      "--",
      "-x",
      "!",
      "#",
      "ä漢脁🙂",
      "\u0081",
      "=",
      "a=b",
      "\r",
    ];
    for (const args of [odd, Array.from({ length: 500 }, (_, index) => `${index}`), ["x".repeat(100_000)]]) {
      const { stdoutBytes } = await given.runtime.execute("printf", ["%s\\0", ...args], {
        workingDir: given.work,
        maxOutputBytes: 1_000_000,
      });
      expect(new TextDecoder().decode(stdoutBytes).split("\0").slice(0, -1)).toEqual(args);
    }
  });

  test("exactly its variables, whatever firejail and shells do with their names", async () => {
    const env = {
      ...{
        PATH: "/usr/bin:/bin",
        SHELL: "/my/shell",
        container: "mine",
        PWD: "/p",
        OLDPWD: "/o",
        SHLVL: "7",
        _: "u",
      },
      ...{
        QUOTE: `'"$(id)\`\\`,
        LINES: "a\nb",
        EMPTY: "",
        "odd name": "1",
        "a.b": "2",
      },
      ...{
        LONG: "y".repeat(50_000),
        HOME: "/root",
        QT_X11_NO_MITSHM: "q",
        UID: "5",
      },
    };
    await using bare = await createRuntime({
      ...withFirejail,
      runtime: { ...withFirejail.runtime, env_whitelist: [] },
    });
    const { stdoutBytes } = await bare.execute("/usr/bin/env", ["-0"], {
      workingDir: given.work,
      env,
      maxOutputBytes: 1_000_000,
    });
    const seen = new TextDecoder().decode(stdoutBytes).split("\0").slice(0, -1);
    expect(
      Object.fromEntries(
        seen.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
      ),
    ).toEqual(env);
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`V${index}`, `${index}`]));
    expect(
      linesOf((await bare.execute("/usr/bin/env", [], { workingDir: given.work, env: many })).stdout),
    ).toHaveLength(400);
  });

  test.each([
    { "--split-string": "/bin/echo other" },
    { "-S": "/bin/echo other" },
    { "-": "1", "--": "2", "-i": "3", "-u": "PATH" },
    { "--chdir": "/usr" },
    { "--help": "" },
    { " ": "4", "a\nb": "5", "$(id)": "6", "A[0]": "7", "'": "8" },
  ])("variables whose names programs take for options or code: %j", async (env) => {
    await using bare = await createRuntime({
      ...withFirejail,
      runtime: { ...withFirejail.runtime, env_whitelist: [] },
    });
    const { stdoutBytes } = await bare.execute("/usr/bin/env", ["-0"], { workingDir: given.work, env });
    const seen = new TextDecoder().decode(stdoutBytes).split("\0").slice(0, -1);
    expect(seen.toSorted()).toEqual(
      Object.entries(env)
        .map(([name, value]) => `${name}=${value}`)
        .toSorted(),
    );
  });

  test("no descriptor besides the three", async () => {
    // The fourth is the list's own.
    expect(linesOf((await sh("ls /proc/self/fd")).stdout)).toEqual(["0", "1", "2", "3"]);
  });

  test("its own exit code, and 128 + n for a signal", async () => {
    for (const code of [0, 1, 2, 77, 126, 127, 128, 137, 143, 255])
      expect((await sh(`exit ${code}`)).exitCode).toBe(code);
    for (const [name, code] of [
      ["TERM", 143],
      ["KILL", 137],
      ["SEGV", 139],
      ["INT", 130],
    ] as const) {
      const { exitCode, stderr } = await sh(`kill -${name} $$`);
      expect([exitCode, stderr]).toEqual([code, ""]);
    }
  });
});

describe("a failure of the sandbox", () => {
  test("a path that cannot be told is refused, and the reason names it", async () => {
    const odd = join(given.place, "a*b");
    mkdirSync(odd);
    await expect(sh("true", { workingDir: odd })).rejects.toMatchObject({
      code: expect.stringMatching(/policy_unenforceable/),
      message: expect.stringContaining("a*b"),
    });
  });

  test("is told as one, and not as the command's", async () => {
    await expect(
      given.runtime.execute(
        "/bin/echo",
        Array.from({ length: 40 }, () => "x".repeat(130_000)),
      ),
    ).rejects.toMatchObject({ code: "argument_list_too_long" });
    rmSync(given.work, { recursive: true });
    await expect(sh("true")).rejects.toMatchObject({ code: "working_dir_not_found" });
  });
});

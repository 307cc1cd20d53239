/** What is to stay as it is in a directory that a command may write, stays so, whatever the command tries. */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Runtime } from "../../mod.ts";
import { isolateState } from "../fixtures/host-target.ts";
import { need } from "../fixtures/needed.ts";
import { tried } from "./against.ts";
import { type SandboxKeys, sandboxedRuntime } from "./ways.ts";

const state = isolateState();
afterAll(() => state.remove());

describe.each(tried)("in %s", (backend, obstacle) => {
  let project: string;

  beforeEach((context) => {
    need(context, obstacle);
    project = realpathSync(mkdtempSync(join(tmpdir(), "protected-")));
    mkdirSync(join(project, ".git"));
  });

  async function run(keys: SandboxKeys, script: string) {
    const runtime = await sandboxedRuntime(backend, keys);
    onTestFinished(() => runtime.close());
    return runtime.execute("/bin/sh", ["-c", script], { workingDir: project });
  }

  async function until(name: string) {
    while (!existsSync(join(project, name))) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  test("protected names are neither made nor changed nor renamed away, and nothing stands for them afterwards", async () => {
    const script =
      "echo evil > .bashrc; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; mv .git .moved; mkdir .git; rm -rf .git/hooks; echo ok > .git/config; ls -A .git/hooks; echo end";
    const { stdout } = await run({ protected_paths: [".git/hooks/", ".bashrc"] }, script);
    expect(stdout).toBe("end\n");
    expect([readdirSync(project), readdirSync(join(project, ".git"))]).toEqual([[".git"], ["config"]]);
  });

  test.each([1, 2])("they stay so for the one that ends last, with %d hosts in one directory", async (hosts) => {
    const keys = { protected_paths: [".git/hooks/", ".bashrc"] };
    const runtimes: Runtime[] = [];
    for (let made = 0; made < hosts; made += 1) runtimes.push(await sandboxedRuntime(backend, keys));
    onTestFinished(async () => {
      for (const runtime of runtimes) await runtime.close();
    });
    const start = (index: number, script: string) =>
      runtimes[index % hosts]?.execute("/bin/sh", ["-c", script], { workingDir: project });
    const first = start(0, "touch begun; while [ ! -e go ]; do sleep 0.02; done");
    await until("begun");
    const second = start(
      1,
      "touch go; while [ ! -e over ]; do sleep 0.02; done; echo evil > .bashrc; echo evil > .git/hooks/pre-commit; rm -rf .git; echo end",
    );
    await first;
    writeFileSync(join(project, "over"), "");
    expect((await second)?.stdout).toBe("end\n");
    expect([readdirSync(project).sort(), readdirSync(join(project, ".git"))]).toEqual([
      [".git", "begun", "go", "over"],
      [],
    ]);
  });

  test("a listed path inside keeps what it holds, and its place", async () => {
    mkdirSync(join(project, "a/kept"), { recursive: true });
    writeFileSync(join(project, "a/kept/file"), "mine");
    const listed = [join(project, "a/kept")];
    const script = "echo evil > a/kept/file; mv a b; mkdir -p a; ln -s /etc a/kept; ls a; cat a/kept/file";
    const { stdout } = await run({ readonly_paths: listed }, script);
    expect(stdout).toBe("kept\nmine");
    expect(readFileSync(join(project, "a/kept/file"), "utf8")).toBe("mine");
  });

  test("a link on the way to a protected name is an error before anything runs", async () => {
    symlinkSync("/etc", join(project, "link"));
    await expect(run({ protected_paths: ["link/passwd"] }, "echo x > ran")).rejects.toMatchObject({
      code: "policy_unenforceable",
    });
    expect(readdirSync(project).sort()).toEqual([".git", "link"]);
  });
});

/** What is to stay as it is in a directory that a command may write, stays so, whatever the command tries. */

import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Runtime } from "../../mod.ts";
import { isolateState } from "../fixtures/host-target.ts";
import { missing, need } from "../fixtures/needed.ts";
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

  test.each(["prx-runtime.toml", ".prx/config.toml", "config.toml"])(
    "a configuration %s is kept where a command works or may write, wherever the host was started",
    async (name) => {
      const other = realpathSync(mkdtempSync(join(tmpdir(), "other-")));
      const text = '[security.sandbox]\nbackend = "auto"\n';
      for (const directory of [project, other]) {
        mkdirSync(dirname(join(directory, name)), { recursive: true });
        writeFileSync(join(directory, name), text);
      }
      const attack = (directory: string) =>
        `cd ${directory}; echo evil > ${name}; rm -rf ${name}; mv .prx away; mkdir -p .prx; mv ${name} x; echo evil > ${name}; cat ${name}`;
      const { stdout } = await run({ writable_paths: [other] }, `${attack(project)}; ${attack(other)}`);
      expect(stdout).toBe(text + text);
      expect([project, other].map((directory) => readFileSync(join(directory, name), "utf8"))).toEqual([text, text]);
      writeFileSync(join(state.scratch, "real.toml"), text);
      rmSync(join(project, name));
      symlinkSync(join(state.scratch, "real.toml"), join(project, name));
      await expect(run({}, "true")).rejects.toMatchObject({
        code: "policy_unenforceable",
        message: expect.stringContaining(`is the link ${join(project, name)}`),
      });
    },
  );

  test("a config.toml of another program is the command's", async () => {
    writeFileSync(join(project, "config.toml"), "[server]\n");
    expect((await run({}, "echo '[runtime]' > config.toml; cat config.toml")).stdout).toBe("[runtime]\n");
  });

  test("in a linked working tree and a submodule they are those that git takes, where they can be written", async (context) => {
    need(context, missing("git"));
    const git = (directory: string, ...words: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always", ...words], {
        cwd: directory,
        stdio: "ignore",
      });
    const main = realpathSync(mkdtempSync(join(tmpdir(), "main-")));
    git(main, "init");
    git(main, "commit", "--allow-empty", "-m", "first");
    const tree = join(project, "tree");
    git(main, "worktree", "add", tree);
    git(project, "init");
    git(project, "submodule", "add", main, "sub");
    const modules = join(project, ".git/modules/sub");
    for (const directory of [join(main, ".git"), modules]) rmSync(join(directory, "hooks"), { recursive: true });
    writeFileSync(join(main, ".git/config.mine"), "mine");
    const hooks = (directory: string) => `mkdir -p ${directory}/hooks; echo evil > ${directory}/hooks/pre-commit`;
    const attack = `rm -f .git; mv .git away; ${hooks(".git")}; ${hooks(join(main, ".git"))}; ${hooks(modules)}; echo evil > ${main}/.git/config.mine; ls -A; git log --oneline | wc -l`;
    const keys = { protected_paths: [".git/hooks/", ".git/config.mine"] };
    const work = async (workingDir: string, writable: string) => {
      await using runtime = await sandboxedRuntime(backend, { ...keys, writable_paths: [writable] });
      return (await runtime.execute("/bin/sh", ["-c", attack], { workingDir })).stdout;
    };
    expect(await work(tree, join(main, ".git"))).toBe(".git\n1\n");
    expect(await work(join(project, "sub"), join(project, ".git"))).toBe(".git\n1\n");
    expect([existsSync(join(main, ".git/hooks")), existsSync(join(modules, "hooks"))]).toEqual([false, false]);
    expect(readFileSync(join(main, ".git/config.mine"), "utf8")).toBe("mine");
    expect((await run(keys, "ls tree")).stdout).toBe("");
    // Where nothing of it is to be written, there is nothing to be kept but the way to it.
    await using alone = await sandboxedRuntime(backend, keys);
    const { stdout } = await alone.execute("/bin/sh", ["-c", "rm -f .git; cat .git"], { workingDir: tree });
    expect(stdout).toBe(`gitdir: ${main}/.git/worktrees/tree\n`);
  });

  test("no file of a request changes them, by whatever name, and nothing is written before that is told", async () => {
    mkdirSync(join(project, "kept/open"), { recursive: true });
    writeFileSync(join(project, "profile"), "mine");
    symlinkSync(".git/hooks", join(project, "hooks"));
    symlinkSync(".", join(project, "here"));
    const keys = {
      protected_paths: [".git/hooks/", ".bashrc", "profile"],
      readonly_paths: [join(project, "kept")],
      writable_paths: [join(project, "kept/open")],
    };
    const runtime = await sandboxedRuntime(backend, keys);
    onTestFinished(() => runtime.close());
    const put = (path: string) =>
      runtime.execute("/bin/sh", ["-c", "echo ran > ran"], {
        workingDir: project,
        files: { first: "x", [path]: "evil" },
      });
    const ways = [".git/hooks/pre-commit", "hooks/pre-commit", "here/.git/hooks/a/b", "here/.bashrc", "kept/file"];
    for (const path of ways) {
      await expect(put(path), path).rejects.toMatchObject({
        code: "policy_unenforceable",
        message: expect.stringMatching(`^File ${path} would change .* leave it out`),
      });
    }
    expect(readdirSync(project).sort()).toEqual([".git", "here", "hooks", "kept", "profile"]);
    expect([readdirSync(join(project, ".git")), readFileSync(join(project, "profile"), "utf8")]).toEqual([[], "mine"]);
    await put("kept/open/file");
    expect(readFileSync(join(project, "kept/open/file"), "utf8")).toBe("evil");
  });

  test("a file that is one of theirs under another name too is parted from it, and not changed", async () => {
    mkdirSync(join(project, ".git/hooks"));
    writeFileSync(join(project, ".git/hooks/pre-commit"), "mine");
    linkSync(join(project, ".git/hooks/pre-commit"), join(project, "same"));
    const runtime = await sandboxedRuntime(backend, { protected_paths: [".git/hooks/"] });
    onTestFinished(() => runtime.close());
    const options = { workingDir: project, files: { same: "new" } };
    expect((await runtime.execute("/bin/cat", ["same"], options)).stdout).toBe("new");
    expect(readFileSync(join(project, ".git/hooks/pre-commit"), "utf8")).toBe("mine");
  });

  test("a protected file that has another name is an error before anything runs", async () => {
    writeFileSync(join(project, "profile"), "mine");
    linkSync(join(project, "profile"), join(project, "same"));
    await expect(run({ protected_paths: ["profile"] }, "echo evil > same")).rejects.toMatchObject({
      code: "policy_unenforceable",
      message: expect.stringContaining(`${join(project, "profile")} is to stay as it is, and has another name`),
    });
    expect(readFileSync(join(project, "profile"), "utf8")).toBe("mine");
  });

  test("a link on the way to a protected name is an error before anything runs", async () => {
    symlinkSync("/etc", join(project, "link"));
    await expect(run({ protected_paths: ["link/passwd"] }, "echo x > ran")).rejects.toMatchObject({
      code: "policy_unenforceable",
    });
    expect(readdirSync(project).sort()).toEqual([".git", "link"]);
  });
});

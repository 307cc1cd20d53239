/** `--sandbox`: a command works in the directory it is typed in and sees nothing else; what cannot be is refused. */

import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { missing, need } from "../fixtures/needed.ts";
import { makePlace, prx, runtimeNames, start, textOf } from "./cli-process.ts";

const { folder, env } = makePlace();
const project = join(folder, "project");
mkdirSync(project);
const configured = join(folder, "configured.toml");
const elsewhere = join(folder, "elsewhere.toml");
writeFileSync(elsewhere, '[runtime]\nbackend = "docker"\n');
writeFileSync(configured, '[security.sandbox]\nbackend = "firejail"\n');

beforeEach((context) => need(context, missing("bwrap", "git", "make")));

describe.each(runtimeNames)("on %s", (runtime) => {
  const run = async (...words: string[]) => textOf(await prx(runtime, words, { env, cwd: project }));

  test("a repository is made, cloned and built, with nothing configured", async () => {
    const script = [
      `rm -rf ${runtime} && mkdir ${runtime} && cd ${runtime} && git init -q some && cd some`,
      "printf 'all: ; @echo made\\n' > Makefile && git add . && git -c user.name=a -c user.email=a@b commit -qm first",
      "cd .. && git clone -q some x && cd x && make && touch ~/mine /tmp/mine 2>/dev/null && ls -A",
    ].join(" && ");
    const { code, stdout } = await run("run", "--sandbox", "bubblewrap", "--", "bash", "-lc", script);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "made\n.git\nMakefile\n" });
  });

  test("nothing outside of the directory is seen", async () => {
    const { stdout } = await run("run", "--sandbox", "auto", "--", "cat", join(folder, "prx.toml"));
    expect(stdout).toBe("");
  });

  test("a link that a command leaves leads nothing of the host in or out", async () => {
    const outside = join(folder, `outside-${runtime}`);
    const link = `link-${runtime}`;
    writeFileSync(outside, "kept");
    const plant = `ln -sf ${outside} ${link}; echo evil > made`;
    const sandbox = ["--sandbox", "bubblewrap"];
    const saved = await run("run", ...sandbox, "--cwd", ".", "--output", `made=${link}`, "--", "sh", "-c", plant);
    expect(saved).toMatchObject({ code: 74, stderr: expect.stringContaining("a link leads it out of") });
    expect(readFileSync(outside, "utf8")).toBe("kept");
    for (const flags of [
      ["--file", `in=${link}`],
      ["--stdin", link],
    ]) {
      const read = await run("run", ...sandbox, ...flags, "--", "sh", "-c", "cat in; cat");
      expect(read).toMatchObject({ code: 74, stdout: "", stderr: expect.stringContaining("name the real path") });
    }
    const named = await run(
      "run",
      ...sandbox,
      "--file",
      `in=${outside}`,
      "--stdin",
      "made",
      "--",
      "sh",
      "-c",
      "cat in -",
    );
    expect(named).toMatchObject({ code: 0, stdout: "keptevil\n" });
  });

  test("explain shows what would be seen, and the argv", async () => {
    const { code, stdout } = await run("explain", "--sandbox", "bubblewrap", "--", "make");
    expect(code).toBe(0);
    expect(stdout).toContain(`writable: ${project}`);
    expect(stdout).toContain('"--unshare-all"');
  });
});

describe.each(runtimeNames)("a pipe that a command has made, on %s", (runtime) => {
  const pipe = `pipe-${runtime}`;
  beforeAll(() => void execFileSync("mkfifo", [join(project, pipe)]));
  const begin = (...flags: string[]) =>
    start(runtime, ["run", "--sandbox", "bubblewrap", ...flags, "--", "cat"], { env, cwd: project });

  test("is none of the files of a request", async () => {
    const said = { code: 74, stderr: expect.stringContaining("it is not a regular file") };
    expect(textOf(await begin("--file", `x=${pipe}`).ended)).toMatchObject(said);
  });

  test("is read as stdin to its end, and waited for until an interrupt", async () => {
    const whole = begin("--stdin", pipe);
    const fd = openSync(join(project, pipe), constants.O_RDWR);
    writeSync(fd, "one");
    await whole.saw("one");
    writeSync(fd, "two");
    await whole.saw("onetwo");
    whole.child.kill("SIGINT");
    expect(await whole.ended).toMatchObject({ code: 130 });
    closeSync(fd);
    const waiting = begin("--stdin", pipe);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    waiting.child.kill("SIGINT");
    expect(await waiting.ended).toMatchObject({ code: 130 });
    const read = begin("--stdin", pipe);
    execFileSync("sh", ["-c", `printf all > ${pipe}`], { cwd: project });
    expect(textOf(await read.ended)).toMatchObject({ code: 0, stdout: "all" });
  });
});

test.each([
  ["another backend", ["--config", elsewhere], "A sandbox goes around local processes"],
  ["another sandbox in the configuration", ["--config", configured], "The configuration asks for firejail"],
])("beside %s it is refused", async (_, flags, message) => {
  const ended = textOf(
    await prx("node", ["run", "--sandbox", "bubblewrap", ...flags, "--", "true"], { env, cwd: project }),
  );
  expect(ended).toMatchObject({ code: 64, stdout: "", stderr: expect.stringContaining(message) });
});

test("doctor tries every sandbox, whatever is configured", async () => {
  const { stdout } = await prx("node", ["doctor", "--json"], { env, cwd: project });
  const { sandboxes } = JSON.parse(stdout.toString());
  expect(sandboxes.map(({ name }: { name: string }) => name)).toEqual(["bubblewrap", "firejail"]);
  expect(sandboxes[0]).toEqual({ name: "bubblewrap", available: true, problem: null });
});

describe("a command cannot change what rules the next one", () => {
  const make = (name: string) => {
    const cwd = join(folder, name);
    mkdirSync(cwd);
    return cwd;
  };
  const toml = (backend: string) => `[security.sandbox]\nbackend = "${backend}"\n`;
  const plain = Object.fromEntries(Object.entries(env).filter(([name]) => name !== "PRX_CONFIG"));
  const run = async (cwd: string, ...words: string[]) =>
    textOf(await prx("node", ["run", ...words], { env: plain, cwd }));

  test.each(["bubblewrap", "firejail"])("in the project's own configuration, under %s", async (backend) => {
    const cwd = make(`own-${backend}`);
    mkdirSync(join(cwd, ".prx"));
    const file = join(cwd, ".prx/config.toml");
    writeFileSync(file, toml(backend));
    const script =
      "echo > .prx/config.toml; rm -rf .prx; mv .prx away; echo '[runtime]' > prx-runtime.toml; cat .prx/config.toml";
    expect(await run(cwd, "--", "sh", "-c", script)).toMatchObject({ stdout: toml(backend) });
    expect(readFileSync(file, "utf8")).toBe(toml(backend));
    expect(await run(cwd, "--", "cat", "/etc/shadow")).toMatchObject({
      code: 78,
      stdout: "",
      stderr: expect.stringContaining("There are two configurations"),
    });
  });

  test("by making one where the command line asks for a sandbox", async () => {
    const cwd = make("planted");
    const script = "printf '[security.sandbox]\nreadonly_paths = [\"/etc/shadow\"]\n' > prx-runtime.toml";
    expect(await run(cwd, "--sandbox", "bubblewrap", "--", "sh", "-c", script)).toMatchObject({ code: 0 });
    const next = ["--sandbox", "bubblewrap", "--", "cat", "/etc/shadow"];
    expect(await run(cwd, ...next)).toMatchObject({
      code: 78,
      stdout: "",
      stderr: expect.stringContaining("--config"),
    });
    expect(await run(cwd, "--config", "prx-runtime.toml", "--sandbox", "bubblewrap", "--", "true")).toMatchObject({
      code: 0,
    });
  });

  test("by links on the way to the configuration", async () => {
    const cwd = make("led");
    mkdirSync(join(folder, "conf"));
    writeFileSync(join(folder, "conf/config.toml"), toml("bubblewrap"));
    symlinkSync("../conf", join(cwd, "conf"));
    symlinkSync("conf", join(cwd, ".prx"));
    const refused = (link: string) => ({
      code: 77,
      stderr: expect.stringContaining(`is the link ${join(cwd, link)}:`),
    });
    expect(await run(cwd, "--", "true")).toMatchObject(refused(".prx"));
    rmSync(join(cwd, ".prx"));
    expect(await run(cwd, "--config", "conf/config.toml", "--", "true")).toMatchObject(refused("conf"));
    expect(await run(cwd, "--config", join(folder, "conf/config.toml"), "--", "true")).toMatchObject({ code: 0 });
  });

  test.each(["bubblewrap", "firejail"])("in a file that another start reads, under %s", async (backend) => {
    const cwd = make(`beside-${backend}`);
    const read = join(folder, `read-${backend}.toml`);
    writeFileSync(read, toml(backend));
    const home = { XDG_CONFIG_HOME: join(cwd, "xdg"), PRX_CONFIG: read };
    const files = ["prx-runtime.toml", ".prx/config.toml", "config.toml", "xdg/prx-runtime/config.toml"];
    for (const file of files) {
      mkdirSync(dirname(join(cwd, file)), { recursive: true });
      writeFileSync(join(cwd, file), toml("auto"));
    }
    const started = (script: string) =>
      prx("node", ["run", "--", "sh", "-c", script], { env: { ...plain, ...home }, cwd });
    await started(`for f in ${files.join(" ")}; do echo evil > $f; mv $f f; done; mv .prx xdg /tmp`);
    expect(files.map((file) => readFileSync(join(cwd, file), "utf8"))).toEqual(files.map(() => toml("auto")));
    // Another program's is nobody's business here.
    writeFileSync(join(cwd, "config.toml"), 'title = "a site"');
    await started("echo more > config.toml");
    expect(readFileSync(join(cwd, "config.toml"), "utf8")).toBe("more\n");
  });

  test("by another name of it", async () => {
    const cwd = make("twice");
    const file = join(folder, "twice.toml");
    writeFileSync(file, toml("bubblewrap"));
    linkSync(file, join(cwd, "same"));
    expect(await run(cwd, "--config", file, "--", "sh", "-c", "echo > same")).toMatchObject({
      code: 77,
      stderr: expect.stringContaining("has another name"),
    });
    expect(readFileSync(file, "utf8")).toBe(toml("bubblewrap"));
  });

  test("by a link in the place of the configuration", async () => {
    const cwd = make("linked");
    writeFileSync(join(folder, "shared.toml"), toml("bubblewrap"));
    symlinkSync(join(folder, "shared.toml"), join(cwd, "prx-runtime.toml"));
    expect(await run(cwd, "--", "true")).toMatchObject({ code: 77, stderr: expect.stringContaining("is the link") });
  });
});

/** `./prx` and its installer, in a small checkout whose npm only pretends. */

import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const ours = fileURLToPath(new URL("../..", import.meta.url));
const runtimes = ["node", "bun", "deno"] as const;

const cli = `import { readFileSync } from "node:fs";
const runtime = "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node";
const stdin = readFileSync(0).toString("hex");
console.log(JSON.stringify({ runtime, args: process.argv.slice(2), stdin, cwd: process.cwd(), env: process.env }));
process.exitCode = 7;
`;

/** Counts its runs in a file, takes as long as asked, and leaves what an install leaves. */
const npm = `#!/bin/sh
echo "$*" >>npm-runs
[ -z "$NPM_TAKES" ] || sleep "$NPM_TAKES"
[ -z "$NPM_FAILS" ] || { echo "npm error the registry said no" >&2; exit 1; }
mkdir -p node_modules/.bin
for name in node bun deno; do ln -sf "${ours}/node_modules/.bin/$name" node_modules/.bin/$name; done
cp package-lock.json node_modules/.installed-lock.json
`;

let root: string;
let elsewhere: string;

beforeEach(() => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "prx-script-")));
  root = join(base, "check out");
  elsewhere = join(base, "else where");
  for (const path of [join(root, "scripts"), join(root, "npm"), elsewhere]) mkdirSync(path, { recursive: true });
  for (const path of ["prx", "scripts/install.sh", "deno.json"]) copyFileSync(join(ours, path), join(root, path));
  for (const path of ["package-lock.json", "package.json"]) writeFileSync(join(root, path), '{ "type": "module" }\n');
  writeFileSync(join(root, "cli.ts"), cli);
  writeFileSync(join(root, "npm/npm"), npm);
  chmodSync(join(root, "npm/npm"), 0o755);
});

afterEach(() => rmSync(join(root, ".."), { recursive: true, force: true }));

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly script?: string;
  readonly stdin?: string;
}

const baseEnv = (): Record<string, string> => ({
  PATH: [join(root, "npm"), "/usr/bin", "/bin"].join(delimiter),
  PWD: elsewhere,
});

function start({
  args = [],
  env = {},
  script = join(root, "prx"),
  stdin = "",
}: RunOptions): [ChildProcess, Promise<Run>] {
  const child = spawn(script, args, { cwd: elsewhere, env: { ...baseEnv(), ...env } });
  child.stdin.on("error", () => {}).end(stdin);
  const text = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text.stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (text.stderr += chunk));
  const { promise, resolve, reject } = Promise.withResolvers<Run>();
  child.on("error", reject).on("close", (code) => resolve({ code, ...text }));
  return [child, promise];
}

const run = (options: RunOptions = {}) => start(options)[1];
const installs = () =>
  existsSync(join(root, "npm-runs")) ? readFileSync(join(root, "npm-runs"), "utf8").trim().split("\n").length : 0;

test("installs on first use, says so on stderr only, and not again", async () => {
  const first = await run();
  expect(JSON.parse(first.stdout)).toMatchObject({ runtime: "node", args: [] });
  expect(first.stderr).toMatch(/^prx: installing .*first use.*\nprx: installed\n$/);
  expect(first.code).toBe(7);
  const second = await run();
  expect(second.stderr).toBe("");
  expect(installs()).toBe(1);
});

test.each(runtimes)("on %s: arguments, stdin, working directory and environment arrive as they are", async (name) => {
  await run();
  writeFileSync(join(elsewhere, ".env"), "FROM_DOTENV=1\n");
  writeFileSync(join(elsewhere, "bunfig.toml"), 'preload = ["./no-such-file.ts"]\n');
  writeFileSync(join(elsewhere, "deno.json"), "not a configuration");
  const link = join(elsewhere, "link");
  symlinkSync("../check out/prx", join(elsewhere, "far"));
  symlinkSync("far", link);
  const args = ["", "two words", "--flag=$HOME", "--", "*", "line\nbreak", "é", "--version"];
  const env = { PRX_JS: name, root: "theirs", lock: "theirs", CDPATH: "/usr", npm_config_x: "theirs" };
  const { stdout, stderr } = await run({ args, env, script: link, stdin: "a\0b\n" });
  expect(stderr).toBe("");
  const seen = JSON.parse(stdout);
  expect(seen).toEqual({ runtime: name, args, stdin: "6100620a", cwd: elsewhere, env: { ...baseEnv(), ...env } });
});

test("installs again when the lock file has changed", async () => {
  await run();
  writeFileSync(join(root, "package-lock.json"), '{ "changed": true }\n');
  const { stderr } = await run();
  expect(stderr).toContain("package-lock.json has changed");
  expect(installs()).toBe(2);
});

test("several that start at the same time install once", async () => {
  const runs = await Promise.all(
    Array.from({ length: 4 }, (_, index) => run({ args: [`${index}`], env: { NPM_TAKES: "0.5" } })),
  );
  expect(runs.map(({ stdout }) => JSON.parse(stdout).args)).toEqual([["0"], ["1"], ["2"], ["3"]]);
  expect(installs()).toBe(1);
  expect(existsSync(join(root, ".install.lock"))).toBe(false);
});

test("a lock that nobody holds any more is taken over", async () => {
  mkdirSync(join(root, ".install.lock"));
  const longAgo = new Date(Date.now() - 10 * 60_000);
  utimesSync(join(root, ".install.lock"), longAgo, longAgo);
  expect((await run()).code).toBe(7);
  expect(installs()).toBe(1);
});

test("an install that was interrupted is begun again, and leaves no lock", async () => {
  const [child, ended] = start({ env: { NPM_TAKES: "0.5" } });
  while (installs() === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill("SIGTERM");
  expect((await ended).code).not.toBe(7);
  await expect.poll(() => existsSync(join(root, ".install.lock")), { timeout: 5000 }).toBe(false);
  expect((await run()).code).toBe(7);
});

test("a failed install says why, and runs nothing", async () => {
  const { code, stdout, stderr } = await run({ env: { NPM_FAILS: "1" } });
  expect({ code, stdout }).toEqual({ code: 69, stdout: "" });
  expect(stderr).toContain("the registry said no");
  expect(stderr).toContain(".install.log");
  expect(existsSync(join(root, ".install.lock"))).toBe(false);
  expect((await run()).code).toBe(7);
});

test("a runtime that is not one of the three is refused", async () => {
  const { code, stderr } = await run({ env: { PRX_JS: "perl" } });
  expect(code).toBe(64);
  expect(stderr).toContain('PRX_JS is "perl": use node, bun or deno');
});

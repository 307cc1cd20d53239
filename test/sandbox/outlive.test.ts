/** A command that takes over bubblewrap's own first process inside does not outlive its run, nor its host for long, where no cgroup holds it. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { markedProcesses } from "../fixtures/host-target.ts";
import { missing, need } from "../fixtures/needed.ts";
import { runScript } from "../fixtures/runtimes.ts";
import { usersObstacle } from "./as-user.ts";
import { obstacleTo } from "./ways.ts";

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const nobody = 65_534;
const obstacle =
  usersObstacle() ??
  missing("bwrap", "setpriv") ??
  (existsSync("/usr/bin/python3") ? null : "there is no /usr/bin/python3") ??
  (process.arch === "x64" ? null : "the program is x86-64 code") ??
  (await obstacleTo("bubblewrap"));

let home = "";
let marker = "";
let hosts: ChildProcess[] = [];
const survivors = () => markedProcesses("OUTLIVE_MARKER", marker);

beforeEach((context) => {
  need(context, obstacle);
  home = realpathSync(mkdtempSync(join(tmpdir(), "prx-outlive-")));
  mkdirSync(join(home, "work"));
  copyFileSync(fileURLToPath(new URL("programs/outlive.py", import.meta.url)), join(home, "work", "outlive.py"));
  for (const path of [home, join(home, "work"), join(home, "work", "outlive.py")]) chownSync(path, nobody, nobody);
  marker = crypto.randomUUID();
  hosts = [];
});

afterEach(() => {
  for (const host of hosts) host.kill("SIGKILL");
  for (const pid of survivors()) process.kill(pid, "SIGKILL");
  if (home !== "") rmSync(home, { recursive: true, force: true });
});

function asNobody(...args: readonly string[]) {
  const identity = [`--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"];
  const env = {
    PATH: "/usr/bin:/bin",
    HOME: home,
    TMPDIR: home,
    PRX_STATE_DIR: join(home, "state"),
    DENO_DIR: join(home, "deno"),
  };
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  return { args: [...identity, ...runScript, ...args], options: { env, cwd } };
}

/** A host that runs the program until it says the word. */
async function startHost(how: string, word: string): Promise<ChildProcess> {
  const program = join(home, "work", "outlive.py");
  const { args, options } = asNobody(fixture("outlived-host.ts"), join(home, "work"), marker, program, how);
  const host = spawn("setpriv", args, { ...options, stdio: ["ignore", "pipe", "inherit"] });
  hosts.push(host);
  await new Promise<void>((resolve, reject) => {
    host.stdout?.on("data", (chunk) => String(chunk).includes(word) && resolve());
    host.once("exit", (code) => reject(new Error(`The host ended by itself with ${code}`)));
  });
  return host;
}

test.each(["ended", "threaded"])("nothing is left when its run is over: %s", { timeout: 60_000 }, async (how) => {
  await startHost(how, "over");
  expect(survivors()).toEqual([]);
});

test("the next start ends what outlived a host that was killed", { timeout: 60_000 }, async () => {
  const host = await startHost("waiting", "ready");
  const gone = new Promise((resolve) => host.once("exit", resolve));
  host.kill("SIGKILL");
  await gone;
  // Without a survivor nothing would be shown.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(survivors().length).toBeGreaterThan(0);
  const { args, options } = asNobody(fixture("crash-host.ts"), "start");
  const { stdout } = await promisify(execFile)("setpriv", args, options);
  expect(stdout).toContain("leftovers_ended");
  await expect.poll(survivors).toEqual([]);
});

/** A host that is killed cannot clean up: the next start ends what it left running, and nothing of anybody else's. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { currentWorld } from "../../host/process-name.ts";
import { findProcess } from "../../host/process-table.ts";
import type { FixtureName } from "../../testing.ts";
import { markedProcesses } from "../fixtures/host-target.ts";
import { runScript } from "../fixtures/runtimes.ts";

const script = fileURLToPath(new URL("../fixtures/crash-host.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));
const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => existsSync(path));
const canBecomeNobody = process.getuid?.() === 0 && setpriv !== undefined;
const nobody = 65_534;

let home = "";
let strangers: ChildProcess[] = [];
let marker = "";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "prx-crash-"));
  strangers = [];
  marker = crypto.randomUUID();
});

afterEach(() => {
  for (const stranger of strangers) stranger.kill("SIGKILL");
  for (const pid of markedProcesses("CRASH_MARKER", marker)) process.kill(pid, "SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

interface Identity {
  readonly title: string;
  /** Set in front of the host's own command line. */
  readonly wrapper: readonly string[];
  readonly uid: number | null;
  readonly fixtures: readonly FixtureName[];
}

const identities: readonly Identity[] = [
  {
    title: "as this user",
    wrapper: [],
    uid: null,
    // Its stdin ends with the host, and then it ends too: its child alone is left.
    fixtures: ["reader-with-child", "two-sleepers", "ignore-term", "daemon-and-sleep", "many-children"],
  },
  {
    title: "as a user without a cgroup",
    wrapper: [setpriv ?? "", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"],
    uid: nobody,
    fixtures: ["two-sleepers", "ignore-term", "many-children"],
  },
];

function commandLine({ wrapper, uid }: Identity, args: readonly string[]) {
  if (uid !== null) chownSync(home, uid, uid);
  const [program, ...rest] = [...wrapper, ...runScript, script, ...args] as [string, ...string[]];
  const env = {
    PATH: "/usr/bin:/bin",
    HOME: home,
    TMPDIR: home,
    PRX_STATE_DIR: join(home, "state"),
    DENO_DIR: join(home, "deno"),
  };
  return { program, args: rest, options: { env, cwd: root } };
}

/** A host that has started its commands. */
async function startCrashHost(identity: Identity, fixtures = identity.fixtures): Promise<ChildProcess> {
  const { program, args, options } = commandLine(identity, ["crash", marker, ...fixtures]);
  const host = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "inherit"] });
  strangers.push(host);
  await new Promise<void>((resolve, reject) => {
    host.stdout?.on("data", (chunk) => String(chunk).includes("ready") && resolve());
    host.once("exit", (code) => reject(new Error(`The host ended by itself with ${code}`)));
  });
  return host;
}

/** Another host, which starts and closes. Answers what it told its log. */
async function startAndClose(identity: Identity): Promise<readonly string[]> {
  const { program, args, options } = commandLine(identity, ["start"]);
  const { stdout } = await promisify(execFile)(program, args, options);
  return JSON.parse(stdout);
}

async function kill9(host: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => host.once("exit", resolve));
  host.kill("SIGKILL");
  await gone;
}

describe.each(identities)("a host that is killed $title", (identity) => {
  test("leaves commands, which the next start ends", { timeout: 60_000 }, async ({ skip }) => {
    if (identity.uid !== null && !canBecomeNobody) skip("only root can become another user");
    const host = await startCrashHost(identity);
    await kill9(host);
    expect(markedProcesses("CRASH_MARKER", marker).length).toBeGreaterThan(0);
    const told = await startAndClose(identity);
    expect(markedProcesses("CRASH_MARKER", marker)).toEqual([]);
    expect(told.join("\n")).toContain("leftovers_ended");
    expect(readdirSync(join(home, "state"))).toEqual([]);
    expect((await startAndClose(identity)).join("\n")).not.toContain("leftovers_ended");
  });

  test("a host that lives keeps its commands, whoever starts beside it", { timeout: 60_000 }, async ({ skip }) => {
    if (identity.uid !== null && !canBecomeNobody) skip("only root can become another user");
    const host = await startCrashHost(identity, ["two-sleepers", "many-children"]);
    const before = markedProcesses("CRASH_MARKER", marker);
    const told = await startAndClose(identity);
    expect(told.join("\n")).not.toContain("leftovers_ended");
    expect(markedProcesses("CRASH_MARKER", marker)).toEqual(before);
    await kill9(host);
    await startAndClose(identity);
    expect(markedProcesses("CRASH_MARKER", marker)).toEqual([]);
  });
});

/** A process of nobody's in particular, leading a group of its own as commands do. */
function stranger(): { readonly pid: number; readonly startedAt: string } {
  const child = spawn("sleep", ["300"], { stdio: "ignore", detached: true });
  strangers.push(child);
  const pid = child.pid ?? 0;
  return { pid, startedAt: findProcess(pid)?.startedAt ?? "" };
}

/** Leaves a host's records behind. */
function writeRecords(name: string, owner: object, commands: readonly object[]): void {
  const directory = join(home, "state", name);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, "owner.json"), JSON.stringify({ cgroups: [], ...currentWorld(), ...owner }));
  for (const [index, command] of commands.entries()) {
    writeFileSync(join(directory, `${index}.run`), JSON.stringify(command));
  }
}

test("a recorded pid that belongs to somebody else by now is left alone", { timeout: 60_000 }, async () => {
  mkdirSync(join(home, "state"), { mode: 0o700 });
  const [own, reused, elsewhere, earlier, living] = [stranger(), stranger(), stranger(), stranger(), stranger()];
  const dead = { pid: 2 ** 22 - 1, startedAt: "1" };
  const self = { pid: process.pid, startedAt: findProcess(process.pid)?.startedAt ?? "" };
  const wild = [0, 1, -1, -process.pid, process.pid].map((pid) => ({ pid, startedAt: "" }));
  writeRecords("dead-host", dead, [own, { ...reused, startedAt: `${Number(reused.startedAt) - 1}` }, ...wild]);
  writeRecords("other-namespace", { ...dead, namespace: "pid:[1]" }, [elsewhere]);
  writeRecords("other-boot", { ...dead, boot: "another" }, [earlier]);
  writeRecords("living-host", self, [living]);
  writeFileSync(join(home, "state", "no-directory"), "{");
  mkdirSync(join(home, "state", "half-written"));
  writeFileSync(join(home, "state", "half-written", "owner.json"), "{");

  await startAndClose({ title: "", wrapper: [], uid: null, fixtures: [] });
  const alive = ({ pid }: { readonly pid: number }) => findProcess(pid)?.zombie === false;
  expect([reused, elsewhere, earlier, living].map(alive)).toEqual([true, true, true, true]);
  await expect.poll(() => alive(own)).toBe(false);
});

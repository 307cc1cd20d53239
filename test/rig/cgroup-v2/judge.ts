/** Starts a host for each case in a cgroup made for it, and judges what came of it and what it left behind. */

import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Case } from "./case.ts";
import { cases } from "./cases.ts";
import { selfProgram } from "./host.ts";
import { makePlace, type Place, processesWith, removePlace, tracesIn } from "./place.ts";

/** The machine is emulated, so everything takes its time. */
const mostMs = 90_000;

/** In front of a command: a mount namespace of its own, in which nothing can be written to cgroups. */
const readOnly = ["unshare", "-m", "sh", "-c", 'mount -o remount,bind,ro /sys/fs/cgroup && exec "$@"', "sh"];

/** Prints a line for each case, and how many there were of both kinds. */
export async function judgeAll(): Promise<void> {
  let passed = 0;
  let failed = 0;
  const wanted = (process.env["RIG_ONLY"] ?? "").split(",").filter((name) => name !== "");
  for (const [name, one] of Object.entries(cases)) {
    if (one.title === "" || (wanted.length > 0 && !wanted.includes(name))) continue;
    const began = performance.now();
    const problem = await judge(name, one);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    if (problem === "") passed += 1;
    else failed += 1;
    console.log(
      `${problem === "" ? "ok    " : "FAILED"} ${one.title} (${seconds} s)${problem === "" ? "" : `\n${problem}`}`,
    );
  }
  console.log(`${passed} passed, ${failed} failed`);
}

/** Answers what was wrong; empty where nothing was. */
async function judge(name: string, one: Case): Promise<string> {
  const place = makePlace(name, one.place ?? "own");
  const other = one.shared === true ? startIn(place, ["sleep", "4241"]) : null;
  const problems: string[] = [];
  try {
    const host = startIn(place, [
      ...(one.readOnly === true ? readOnly : []),
      ...selfProgram,
      process.argv[1] ?? "",
      "case",
      name,
    ]);
    if (one.crash === true) problems.push(...(await crashAndSweep(host)));
    else problems.push(...(await ending(host)));
    const traces = tracesIn(place);
    if (traces !== "") problems.push(`It left ${traces} in ${place.directory}`);
    const alive = processesWith("31337");
    if (alive.length > 0) problems.push(`It left the processes ${alive.join(" ")}`);
  } catch (error) {
    problems.push(String(error));
  } finally {
    other?.kill("SIGKILL");
    if (other !== null) await new Promise((resolve) => other.once("exit", resolve));
    for (const pid of processesWith("31337")) process.kill(pid, "SIGKILL");
    try {
      removePlace(place);
    } catch (error) {
      problems.push(`The place cannot be removed: ${error}`);
    }
  }
  return problems.map((line) => `       ${line.replaceAll("\n", "\n       ")}`).join("\n");
}

/** Starts a program in a cgroup from its first instruction on. The host itself becomes the user that the cgroup belongs to. */
function startIn({ directory, uid }: Place, argv: readonly string[]): ChildProcess {
  const state = `/tmp/state-${uid}`;
  mkdirSync(state, { recursive: true, mode: 0o700 });
  chownSync(state, uid, uid);
  const script = `echo $$ > ${join(directory, "cgroup.procs")}; exec "$@"`;
  return spawn("sh", ["-c", script, "sh", ...argv], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: "/bin", HOME: "/tmp", TMPDIR: "/tmp", PRX_STATE_DIR: state, RIG_UID: String(uid) },
  });
}

async function ending(host: ChildProcess): Promise<readonly string[]> {
  let said = "";
  host.stdout?.on("data", (chunk) => (said += chunk));
  host.stderr?.on("data", (chunk) => (said += chunk));
  const limit = setTimeout(() => host.kill("SIGKILL"), mostMs);
  const end = await new Promise((resolve) => host.once("close", (code, signal) => resolve(signal ?? code)));
  clearTimeout(limit);
  for (const [line] of said.matchAll(/^cost: .*$/gm)) console.log(line);
  return end === 0 ? [] : [`The host ended with ${end}`, said.trim()];
}

async function crashAndSweep(host: ChildProcess): Promise<readonly string[]> {
  await new Promise((resolve) => {
    host.stdout?.on("data", resolve);
    host.once("exit", resolve);
  });
  host.kill("SIGKILL");
  await new Promise((resolve) => host.once("close", resolve));
  const place = makePlace("sweeper", "own");
  try {
    return await ending(startIn(place, [...selfProgram, process.argv[1] ?? "", "case", "sweeper"]));
  } finally {
    removePlace(place);
  }
}

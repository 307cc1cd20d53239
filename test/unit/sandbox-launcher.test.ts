/** What stands around firejail begins it again where another's mount broke it, and nowhere else. */

import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { FirejailFacts } from "../../adapters/_native/sandbox/firejail-facts.ts";
import { launcher } from "../../adapters/_native/sandbox/firejail-launcher.ts";
import { missing, need } from "../fixtures/needed.ts";

const obstacle = process.platform === "linux" ? missing("sh", "setpriv", "tail") : "firejail is for Linux";
let place = "";

beforeEach((context) => {
  need(context, obstacle);
  place = realpathSync(mkdtempSync(join(tmpdir(), "prx-launcher-")));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const broken = "Access error: uid 1000, last mount name:/ dir:/somewhere/else type:tmpfs - invalid whitelist mount";
const peer = "Error: proc 12 cannot sync with peer: unexpected EOF";

/** Runs a program that says and does one of these each time, the last one from then on. */
async function run(...steps: readonly string[]) {
  const program = join(place, "program");
  const cases = steps.map((step, index) => `${index + 1 === steps.length ? "*" : index}) ${step} ;;`);
  const count = `count=$(cat ${place}/count); echo $((count + 1)) > ${place}/count`;
  writeFileSync(join(place, "count"), "0\n");
  writeFileSync(program, `#!/bin/sh\n${count}\ncase $count in ${cases.join("\n")}\nesac\n`);
  chmodSync(program, 0o755);
  const where = (name: string) => execFileSync("/bin/sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
  const tools = { sh: "/bin/sh", setpriv: where("setpriv"), tail: where("tail") } as FirejailFacts["tools"];
  const facts = { uid: 1000, hostPid: process.pid, tools } as FirejailFacts;
  const [file, ...words] = launcher(facts, { status: 4, stderr: 7, inputs: [5, 6] });
  const status = openSync(join(place, "status"), "w+");
  try {
    const stdio = ["ignore", "pipe", "pipe", "ignore", status, "ignore", "ignore"] as const;
    const child = spawn(file, [...words, program, "an", "argument"], { stdio: [...stdio], detached: true, env: {} });
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const ended = await new Promise<number | string | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => resolve(signal ?? code));
    });
    const times = Number(readFileSync(join(place, "count"), "utf8"));
    return { ended, times, stderr, status: readFileSync(join(place, "status"), "utf8") };
  } finally {
    closeSync(status);
  }
}

test("again, until it works", async () => {
  const fails = `echo '${broken}' >&2; echo '${peer}' >&2; exit 1`;
  const works = `echo "$@" >&7; echo 'prx-runtime: started' >&2; exit 3`;
  expect(await run(fails, fails, works)).toMatchObject({ ended: 3, times: 3, stderr: "an argument\n" });
});

test("a few times, and then its words are told", async () => {
  const { ended, times, status } = await run(`echo '${broken}' >&2; exit 1`);
  expect([ended, times, status.split(broken).length - 1]).toEqual([1, 5, 5]);
});

test.each([
  ["something else was wrong", "echo 'Error: cannot mount' >&2; exit 1", 1],
  ["the command was begun", `echo '${broken}' >&2; echo 'prx-runtime: started' >&2; exit 1`, 1],
  ["it worked", "echo 'prx-runtime: started' >&2; exit 0", 0],
  ["a command was killed", "echo 'prx-runtime: started' >&2; kill -KILL $$", 137],
  ["it was killed before", "kill -KILL $$", "SIGKILL"],
] as const)("never where %s", async (_, step, ended) => {
  expect(await run(step)).toMatchObject({ ended, times: 1, stderr: "" });
});

test("never where something else was wrong the second time", async () => {
  expect(await run(`echo '${broken}' >&2; exit 1`, "echo 'Error: cannot mount' >&2; exit 1")).toMatchObject({
    ended: 1,
    times: 2,
  });
});

/** What a command can do in firejail's sandbox, as root and as a user; that it ends with its host; and what is left. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chownSync, existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import { firejailRecords, otherUser } from "../fixtures/firejail.ts";
import { linesOf, sleepers, useFirejail } from "../fixtures/firejail-place.ts";
import { missing, need } from "../fixtures/needed.ts";
import { runScript } from "../fixtures/runtimes.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const script = fileURLToPath(new URL("../fixtures/firejail-host.ts", import.meta.url));
const user = otherUser();
const noUser = user === null ? "there is no other user whom this process can become" : null;
const given = useFirejail();
const { sh } = given;

const limits = [
  "grep -E '^(CapEff|CapPrm|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -s '\\t ' ' '",
  'for p in / /usr /etc /run /run/firejail /run/firejail/mnt/dev /work /boot /sys /proc/sys/kernel/hostname; do chmod 700 $p 2>/dev/null; { touch $p/prx-made || echo > $p; } 2>/dev/null && echo "wrote $p"; done',
  "mount -t tmpfs none /mnt 2>/dev/null && echo mounted",
  "unshare -U true 2>/dev/null && echo unshared",
  "cat /proc/1/environ /proc/1/fd/* 2>/dev/null",
];
const noPower = [
  "CapPrm: 0000000000000000",
  "CapEff: 0000000000000000",
  "CapBnd: 0000000000000000",
  "NoNewPrivs: 1",
  "Seccomp: 2",
];

describe("what it can do", () => {
  test("nothing to the system, and nothing by a capability", async () => {
    expect(linesOf((await sh(limits.join("\n"))).stdout)).toEqual(noPower);
    for (const path of ["/", "/usr", "/run", "/run/firejail"]) expect(existsSync(join(path, "prx-made"))).toBe(false);
  });

  test("make its own run look like none, or another's like its own? no", async () => {
    const fakes = [
      "echo 'Error: x' >&2; exit 1",
      "for f in /proc/[0-9]*/fd/*; do echo 'Error: fake' > $f; : > $f; done 2>/dev/null; exit 1",
      "kill -KILL $PPID; exit 1",
    ];
    for (const line of fakes) expect((await sh(line)).outcome).toBe("completed");
    expect((await sh(fakes[0] ?? "")).stderr).toBe("Error: x\n");
  });

  test("leave a daemon behind? no", async () => {
    const seconds = `${7000 + Math.floor(Math.random() * 1000)}`;
    expect((await sh(`setsid sleep ${seconds} & setsid -f sleep ${seconds}; exit 4`)).exitCode).toBe(4);
    expect(sleepers(seconds)).toEqual([]);
  });
});

describe("nothing is left on record", () => {
  test("after success, a time limit and a cancellation; what a kill leaves, the next start clears", async () => {
    const before = firejailRecords();
    await sh("true");
    await sh("sleep 30", { timeoutMs: 700 });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 700);
    await sh("trap '' TERM; sleep 30; sleep 30", { signal: stop.signal });
    await sh("true");
    const own = firejailRecords().filter((file) => !before.includes(file));
    // Other tests' runs at the same time have records as well, for as long as they last.
    await expect.poll(() => own.filter((file) => existsSync(file)), { timeout: 5000 }).toEqual([]);
  });
});

describe("as a user", () => {
  beforeEach((context) => {
    need(context, noUser);
    for (const path of [given.place, given.work]) chownSync(path, user?.uid ?? 0, user?.gid ?? 0);
  });

  const environment = () => ({
    ...{
      PATH: "/usr/bin:/bin",
      HOME: user?.home ?? "",
      TMPDIR: given.place,
      PRX_STATE_DIR: join(given.place, "state"),
    },
    DENO_DIR: join(given.place, "deno"),
  });
  const commandLine = (...args: readonly string[]) => {
    const [program = "", ...rest] = [...(user?.become ?? []), ...runScript, script, ...args];
    return { program, rest, options: { env: environment(), cwd: root } };
  };
  const run = async (line: string) => {
    const { program, rest, options } = commandLine("run", given.work, line);
    return JSON.parse((await promisify(execFile)(program, rest, options)).stdout);
  };

  test("the same view, and no more power", { timeout: 60_000 }, async () => {
    const line = `${limits.join("\n")}\nls -A $HOME /tmp ..; ls /home /root 2>/dev/null; touch made $HOME/made /tmp/made && echo written; echo err >&2; exit 9`;
    const { stdout, stderr, exitCode } = await run(line);
    expect([exitCode, stderr]).toEqual([9, "err\n"]);
    expect(linesOf(stdout).slice(0, noPower.length)).toEqual(noPower);
    expect(stdout).not.toMatch(/wrote|mounted|unshared|secret|state/);
    expect(stdout).toContain("written\n");
    expect([existsSync(join(given.work, "made")), existsSync(join(user?.home ?? "", "made"))]).toEqual([true, false]);
  });

  test("everything ends with a host that is killed", { timeout: 60_000 }, async () => {
    await killHost(commandLine);
  });
});

test("everything ends with a host that is killed, as this user", { timeout: 60_000 }, async () => {
  const env = { ...process.env, TMPDIR: given.place, PRX_STATE_DIR: join(given.place, "state") };
  await killHost((...args) => {
    const [program, ...rest] = [...runScript, script, ...args] as [string, ...string[]];
    return { program, rest, options: { env, cwd: root } };
  });
});

type CommandLine = (...args: readonly string[]) => {
  program: string;
  rest: string[];
  options: { env: NodeJS.ProcessEnv; cwd: string };
};

async function killHost(commandLine: CommandLine): Promise<void> {
  const seconds = `${8000 + Math.floor(Math.random() * 1000)}`;
  const { program, rest, options } = commandLine(
    "crash",
    given.work,
    `setsid -f sleep ${seconds}; echo up; trap '' TERM HUP; sleep ${seconds}`,
  );
  const host: ChildProcess = spawn(program, rest, { ...options, stdio: ["ignore", "pipe", "inherit"] });
  await new Promise<void>((resolve, reject) => {
    host.stdout?.on("data", (chunk) => String(chunk).includes("ready") && resolve());
    host.once("exit", (code) => reject(new Error(`The host ended by itself with ${code}`)));
  });
  try {
    await expect.poll(() => sleepers(seconds)).toHaveLength(2);
  } finally {
    host.kill("SIGKILL");
  }
  await expect.poll(() => sleepers(seconds), { timeout: 5000 }).toEqual([]);
}

test("where firejail takes a container for a sandbox and would make none, nothing runs", {
  timeout: 60_000,
}, async (context) => {
  need(context, process.getuid?.() === 0 ? missing("unshare") : "only root can make the namespace");
  const env = { ...process.env, TMPDIR: given.place, PRX_STATE_DIR: join(given.place, "state") };
  const args = ["--pid", "--fork", "--mount-proc", ...runScript, script, "run", given.work, "echo ran > ran"];
  await expect(promisify(execFile)("unshare", args, { env, cwd: root })).rejects.toMatchObject({
    stderr: expect.stringContaining("takes this container for a sandbox of its own"),
  });
  expect(existsSync(join(given.work, "ran"))).toBe(false);
});

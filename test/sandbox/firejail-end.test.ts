/** What a command can do in firejail's sandbox, as root and as a user; that it ends with its host; and what is left. */

import { execFile, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import { createRuntime } from "../../mod.ts";
import { firejailRecords, otherUser } from "../fixtures/firejail.ts";
import { type Doomed, firejailHost, killHost } from "../fixtures/firejail-hosts.ts";
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

/** Number, group and session of every process inside: 0 is what cannot be seen from there. */
const groups =
  "sleep 3 & for p in /proc/[0-9]*; do [ -e $p/stat ] && cut -d' ' -f1,5,6 $p/stat; done 2>/dev/null; kill $!";

const doomed: readonly (readonly [string, Doomed])[] = [
  [
    "it ignores polite signals",
    { line: (s) => `setsid -f sleep ${s}; echo up; trap '' TERM HUP; sleep ${s}`, sleepers: 2 },
  ],
  ["it stops its group", { line: (s) => `setsid -f sleep ${s}; echo up; sleep 0.3; kill -STOP 0; exit`, sleepers: 1 }],
  [
    "it stops all it sees",
    { line: (s) => `sleep ${s} & echo up; sleep 0.3; kill -STOP -1; kill -STOP $$; exit`, sleepers: 1 },
  ],
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

  const host = (mode: string, line: string) => firejailHost(given.place, user, [mode, given.work, line]);
  const run = async (line: string) => {
    const { program, args, options } = host("run", line);
    return JSON.parse((await promisify(execFile)(program, [...args], options)).stdout);
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

  test.each(doomed)("everything ends with a host that is killed: %s", { timeout: 60_000 }, async (_, command) => {
    await killHost(host, command);
  });

  test("what it sends to its own group reaches nobody outside", { timeout: 60_000 }, async () => {
    expect(await run("trap 'exit 5' TERM; kill 0; sleep 5")).toMatchObject({ exitCode: 5, outcome: "completed" });
    const { stdout } = await run(groups);
    expect(linesOf(stdout).filter((line) => / 0 0$/.test(line))).toEqual(["1 0 0"]);
  });
});

test.each(doomed)(
  "everything ends with a host that is killed, as this user: %s",
  {
    timeout: 60_000,
  },
  async (_, command) => {
    await killHost((mode, line) => firejailHost(given.place, null, [mode, given.work, line]), command);
  },
);

describe("what it sends to a group", () => {
  test.each([
    ["trap 'exit 5' TERM; kill 0; sleep 5", 5],
    ["kill -KILL 0; sleep 5", 137],
    ["kill -s TERM -- -$$; sleep 5", 143],
    ["trap 'kill -- -$$' EXIT; exit 3", 143],
    ["trap '' TERM; (sleep 0.2; echo late) & trap 'kill -- -$$; wait' EXIT; trap : TERM; exit 3", 3],
  ])("comes to the same end as outside: %s", async (line, code) => {
    const before = firejailRecords();
    await using plain = await createRuntime({ runtime: { backend: "native" } });
    const outside = await plain.execute("sh", ["-c", line], { workingDir: given.work });
    const { exitCode, outcome, stdout, stderr } = await sh(line);
    expect({ exitCode, outcome, stdout, stderr }).toEqual({
      ...{ exitCode: code, outcome: "completed" },
      ...{ stdout: outside.stdout, stderr: outside.stderr },
    });
    expect(outside.exitCode).toBe(code);
    const own = firejailRecords().filter((file) => !before.includes(file));
    await expect.poll(() => own.filter((file) => existsSync(file)), { timeout: 5000 }).toEqual([]);
  });

  test("reaches nobody outside: the first process inside is alone in the group of what watches", async () => {
    const { stdout } = await sh(groups);
    expect(linesOf(stdout).length).toBeGreaterThan(2);
    expect(linesOf(stdout).filter((line) => / 0 0$/.test(line))).toEqual(["1 0 0"]);
  });
});

test("others' mounts break none, as root", { timeout: 60_000 }, async (context) => {
  need(context, process.getuid?.() === 0 ? null : "only root may mount");
  const shared = join(given.place, "shared");
  mkdirSync(join(shared, "m"), { recursive: true });
  const lines = [
    'mount --bind "$0" "$0" && mount --make-shared "$0"',
    'trap "umount $0/m 2>/dev/null; umount $0; exit" TERM',
    'echo ready; while mount -t tmpfs none "$0/m" && umount "$0/m"; do :; done',
  ];
  const others = spawn("sh", ["-c", lines.join("\n"), shared], { stdio: ["ignore", "pipe", "ignore"] });
  const gone = new Promise((resolve) => others.once("exit", resolve));
  await new Promise((resolve) => others.stdout.once("data", resolve));
  try {
    for (let run = 0; run < 5; run++) expect((await sh("exit 6")).exitCode).toBe(6);
  } finally {
    others.kill();
    await gone;
  }
});

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

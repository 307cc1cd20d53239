/** How commands end in bubblewrap's sandbox, and what is said of it. */

import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { listProcesses } from "../../host/process-table.ts";
import { useBubblewrap } from "../fixtures/bubblewrap-place.ts";
import { markedProcesses } from "../fixtures/host-target.ts";
import { runScript } from "../fixtures/runtimes.ts";

const given = useBubblewrap();
const { shell } = given;

/** The process that the host itself has begun, of a command with this mark. */
function monitorOf(marker: string): number {
  const marks = markedProcesses("SB_MARK", marker);
  const found = listProcesses().find(({ pid, parent }) => parent === process.pid && marks.includes(pid));
  if (found === undefined) throw new Error("It has ended");
  return found.pid;
}

describe("the end", () => {
  const left = (marker: string) => markedProcesses("SB_MARK", marker).length;

  test("of the command is the end of everything in it, daemons too", async () => {
    const env = { SB_MARK: crypto.randomUUID() };
    const script =
      "sleep 300 & setsid sleep 300 & (setsid sh -c 'sleep 300 & exec sleep 300' >/dev/null 2>&1 &); exit 5";
    expect(await shell(script, { env })).toMatchObject({ exitCode: 5, outcome: "completed", warnings: [] });
    expect(left(env.SB_MARK)).toBe(0);
  });

  test("comes politely first: a command that is asked to end has its grace", async () => {
    const script = "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.05; done";
    const output = await shell(script, { timeoutMs: 1500 });
    expect(output).toMatchObject({ outcome: "timed_out", exitCode: 3 });
    expect(output.stdout).toContain("bye");
  });

  test("by a signal is told by the number that a shell gives", async () => {
    expect(await shell("kill -SEGV $$")).toMatchObject({ exitCode: 139, signal: null, outcome: "completed" });
    expect(await shell("exit 200")).toMatchObject({ exitCode: 200 });
  });

  test("of the host, however it comes, is the end of all", { timeout: 60_000 }, async () => {
    const marker = crypto.randomUUID();
    const script = fileURLToPath(new URL("../fixtures/crash-host.ts", import.meta.url));
    const [program, ...args] = [
      ...runScript,
      script,
      "crash",
      marker,
      "two-sleepers",
      "ignore-term",
      "daemon-and-sleep",
    ];
    const env = { ...process.env, CRASH_SANDBOX: "bubblewrap" };
    const cwd = fileURLToPath(new URL("../..", import.meta.url));
    const host = spawn(program ?? "", args, { env, cwd, stdio: ["ignore", "pipe", "inherit"] });
    const gone = new Promise((resolve) => host.once("exit", resolve));
    await new Promise<void>((resolve, reject) => {
      host.stdout.on("data", (chunk) => String(chunk).includes("ready") && resolve());
      host.once("exit", (code) => reject(new Error(`The host ended by itself with ${code}`)));
    });
    expect(markedProcesses("CRASH_MARKER", marker).length).toBeGreaterThan(3);
    host.kill("SIGKILL");
    await gone;
    await expect.poll(() => markedProcesses("CRASH_MARKER", marker).length, { timeout: 5000 }).toBe(0);
    // What it kept, its cgroups among them, goes by the next start.
    await given.another({});
  });
});

describe("its own words on stderr", () => {
  test("are told as the error of a command that cannot be run", async () => {
    const program = Buffer.from(readFileSync("/bin/true"));
    const at = program.indexOf("/lib64/ld-linux-x86-64.so.2");
    if (at === -1) return;
    program.write("/lib64/ld-linux-x86-64.so.9", at);
    writeFileSync(join(given.work, "bad"), program, { mode: 0o755 });
    for (let round = 0; round < 5; round += 1)
      await expect(given.runtime.execute("./bad", [], { workingDir: given.work })).rejects.toMatchObject({
        code: "not_executable",
        message: expect.stringContaining("is not seen in the sandbox"),
      });
  });

  test("are not those of a command that speaks alike and is killed from outside", async () => {
    const env = { SB_MARK: crypto.randomUUID() };
    const script = "printf 'bwrap: mine\\n' >&2; echo said; exec sleep 300";
    const running = given.runtime.stream("/bin/sh", ["-c", script], { env, workingDir: given.work });
    let stderr = "";
    let exit: unknown;
    for await (const event of running) {
      if (event.type === "stdout") process.kill(monitorOf(env.SB_MARK), "SIGKILL");
      if (event.type === "stderr") stderr += new TextDecoder().decode(event.data);
      if (event.type === "finished") exit = event.output.signal;
    }
    expect([exit, stderr]).toEqual(["SIGKILL", "bwrap: mine\n"]);
  });

  test("hold nobody up who only speaks alike", async () => {
    const script = "printf 'bwrap: x\\n' >&2; sleep 0.5; head -c 300000 /dev/zero | tr '\\0' a >&2; echo done";
    const output = await shell(script, { timeoutMs: 20_000 });
    expect(output).toMatchObject({ outcome: "completed", exitCode: 0, stdout: "done\n", stderrTotalBytes: 300_009 });
  });
});

test("no value of a variable is in any argv, inside or outside", async () => {
  const env = { TOKEN: "abc123secret" };
  const running = given.runtime.stream(
    "/bin/sh",
    [
      "-c",
      'cat /proc/[0-9]*/cmdline | tr "\\0" "\\n" | awk "index(\\$0, ENVIRON[\\"TOKEN\\"]) { n++ } END { print n + 0 }"; sleep 30',
    ],
    {
      env,
    },
  );
  for await (const event of running) {
    if (event.type !== "stdout") continue;
    expect(new TextDecoder().decode(event.data).trim()).toBe("0");
    const argvs = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, "utf8");
        } catch {
          return "";
        }
      });
    expect(argvs.filter((argv) => argv.includes("bwrap") && argv.includes("sleep 30")).length).toBeGreaterThan(0);
    expect(argvs.filter((argv) => argv.includes("abc123secret"))).toEqual([]);
    break;
  }
});

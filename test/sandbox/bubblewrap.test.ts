/** Native commands in bubblewrap: what they see, how they end, and what is said where it does not work. */

import { spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { ExecuteOptions, Runtime } from "../../mod.ts";
import { isolateState, markedProcesses, setHostEnv } from "../fixtures/host-target.ts";
import { need } from "../fixtures/needed.ts";
import { runScript } from "../fixtures/runtimes.ts";
import { obstacleTo, pathWith, type SandboxKeys, sandboxedRuntime } from "./ways.ts";

const state = isolateState();
const obstacle = await obstacleTo("bubblewrap");
let runtime: Runtime;
let work: string;

beforeAll(async () => {
  work = realpathSync(mkdtempSync(join(tmpdir(), "work-")));
  if (obstacle === null) runtime = await sandboxedRuntime("bubblewrap");
});
beforeEach((context) => need(context, obstacle));
afterAll(async () => {
  await runtime?.close();
  state.remove();
});

const shell = (script: string, options: ExecuteOptions = {}) =>
  runtime.execute("/bin/sh", ["-c", script], { workingDir: work, ...options });
const lines = async (script: string, options: ExecuteOptions = {}) =>
  (await shell(script, options)).stdout.trim().split("\n");

/** Another runtime, closed after the test. */
async function another(keys: SandboxKeys): Promise<Runtime> {
  const made = await sandboxedRuntime("bubblewrap", keys);
  onTestFinished(() => made.close());
  return made;
}

describe("inside", () => {
  test("there are the system, the working directory, and nothing else of the host", async () => {
    const secret = join(state.scratch, "secret");
    mkdirSync(secret);
    const seen = await lines(
      `ls -A ${secret} 2>&1 || echo hidden; ls -A $HOME/.ssh 2>&1 >/dev/null | wc -l; ls -d /sys /boot /opt /srv /mnt 2>/dev/null; ls ${work}`,
    );
    expect(seen[0]).toContain("No such file");
    expect(seen.slice(1)).toEqual(["hidden", "1", ""].filter(Boolean));
  });

  test("HOME, /tmp and /var/tmp are writable and its own, and gone with it", async () => {
    expect(await lines("for d in $HOME /tmp /var/tmp; do echo x > $d/prx-mark && cat $d/prx-mark; done")).toEqual([
      "x",
      "x",
      "x",
    ]);
    expect(await lines("ls $HOME/prx-mark /tmp/prx-mark 2>/dev/null; echo gone")).toEqual(["gone"]);
    expect([existsSync("/tmp/prx-mark"), existsSync(join(process.env["HOME"] ?? "/", "prx-mark"))]).toEqual([
      false,
      false,
    ]);
  });

  test("the working directory is the host's, and everything else is read-only", async () => {
    await shell("echo made > file");
    expect(readFileSync(join(work, "file"), "utf8")).toBe("made\n");
    expect(
      await lines("for p in / /usr /etc /var /dev/../x; do touch $p/prx-mark 2>/dev/null && echo $p; done; echo none"),
    ).toEqual(["none"]);
  });

  test("there are the devices of a program, and no terminal", async () => {
    const devices = await lines(
      "for d in null zero full random urandom; do test -c /dev/$d && echo $d; done; (: < /dev/tty) 2>/dev/null || echo no tty; ps -o tty= -p $$",
    );
    expect(devices).toEqual(["null", "zero", "full", "random", "urandom", "no tty", "?"]);
  });

  test("no process of the host is seen, and every visible one has a clean environment", async () => {
    setHostEnv("PRX_TEST_SECRET", "s3cret");
    onTestFinished(() => setHostEnv("PRX_TEST_SECRET", undefined));
    const [count, secrets] = await lines(
      "ls /proc | grep -c '^[0-9]'; cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c s3cret",
      { env: { MINE: "1" } },
    );
    expect(Number(count)).toBeLessThan(8);
    expect(secrets).toBe("0");
  });

  test("there are no privileges, and no way to any", async () => {
    const status = await lines("grep -E '^(Cap(Prm|Eff|Bnd)|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t '");
    expect(status).toEqual([
      ...["CapPrm", "CapEff", "CapBnd"].map((name) => `${name}:0000000000000000`),
      "NoNewPrivs:1",
      "Seccomp:2",
    ]);
    expect((await shell("unshare -U true 2>/dev/null || echo refused")).stdout).toBe("refused\n");
  });

  test("nothing is inherited but the three streams", async () => {
    // The list itself is read by one more. A place may be taken by nothing, which is how Node is kept from passing it on.
    expect(
      await lines(
        "for f in /proc/self/fd/*; do t=$(readlink $f); case $t in ''|/dev/null|/proc/*|pipe:*|socket:*|*/pipes/*) ;; *) echo $f $t;; esac; done; echo clean",
      ),
    ).toEqual(["clean"]);
  });

  test("there is a network of its own: a loopback that works, and no way out", async () => {
    const server =
      'python3 -c \'import socket,threading as t; s=socket.create_server(("127.0.0.1",0)); t.Thread(target=lambda:s.accept()[0].sendall(b"hi")).start(); print(socket.create_connection(s.getsockname()).recv(9).decode())\'';
    expect((await shell(server)).stdout).toBe("hi\n");
    const out = await runtime.execute("python3", [
      "-c",
      "import socket; socket.create_connection(('192.0.2.1', 80), 5)",
    ]);
    expect(out.exitCode).toBe(1);
    expect(out.warnings.map(({ code }) => code)).toEqual(["denied_network"]);
  });

  test("names are looked up as on the host where there is a network", async () => {
    const open = await another({ allow_network: true });
    const look = ["-c", "import socket; print(open('/etc/resolv.conf').read())"];
    const { stdout } = await open.execute("python3", look);
    expect(stdout.trim()).toBe(readFileSync("/etc/resolv.conf", "utf8").trim());
    const { stdout: closed } = await runtime.execute("python3", look);
    expect(closed.trim()).toBe("");
  });
});

describe("the paths that are listed", () => {
  test("are seen by their real path and by a link, writable or not", async () => {
    const [read, write] = ["read", "write"].map((name) => join(state.scratch, name)) as [string, string];
    for (const path of [read, write]) mkdirSync(path);
    symlinkSync(write, join(state.scratch, "link"));
    const link = join(state.scratch, "link");
    const listed = await another({ readonly_paths: [read], writable_paths: [link] });
    const script = `echo 1 > ${link}/a && cat ${write}/a; touch ${read}/b 2>/dev/null || echo kept`;
    const { stdout } = await listed.execute("/bin/sh", ["-c", script], { workingDir: work });
    expect(stdout).toBe("1\nkept\n");
    expect(readdirSync(write)).toEqual(["a"]);
  });

  test("and are missing are an error before anything runs, which names them", async () => {
    await expect(sandboxedRuntime("bubblewrap", { writable_paths: ["/missing/path"] })).rejects.toThrow(
      /writable_paths\[0\] = "\/missing\/path": there is no such path/,
    );
  });

  test("of a working directory below a link lead to the real one", async () => {
    symlinkSync(work, join(state.scratch, "elsewhere"));
    const { stdout } = await shell("pwd -P", { workingDir: join(state.scratch, "elsewhere") });
    expect(stdout).toBe(`${work}\n`);
  });

  test.each(["/", "/tmp", "/usr", "/etc", "/proc/sys/kernel", "/sys/fs/cgroup", "/usr/bin", "/dev/shm", "/proc/self"])(
    "a working directory of %s is refused: it would show too much",
    async (workingDir) => {
      if (!existsSync(workingDir)) return;
      await expect(shell("true", { workingDir })).rejects.toMatchObject({
        code: "policy_unenforceable",
        message: expect.stringContaining("The working directory"),
      });
    },
  );

  test("a working directory among the host's records, or of a home by another name, is refused", async () => {
    const records = process.env["PRX_STATE_DIR"] ?? "";
    for (const name of readdirSync(records))
      await expect(shell("true", { workingDir: join(records, name) })).rejects.toMatchObject({
        code: "policy_unenforceable",
      });
    const home = join(state.scratch, "real-home");
    mkdirSync(home);
    symlinkSync(home, join(state.scratch, "home"));
    const before = process.env["HOME"];
    setHostEnv("HOME", join(state.scratch, "home"));
    onTestFinished(() => setHostEnv("HOME", before));
    const linked = await another({});
    await expect(linked.execute("true", [], { workingDir: home })).rejects.toThrow(/holds the home directory/);
  });
});

describe("a command that the sandbox hides", () => {
  test("is an error with the line that shows it", async () => {
    const tools = join(state.scratch, "tools");
    mkdirSync(tools);
    const tool = join(tools, "tool");
    copyFileSync("/bin/true", tool);
    chmodSync(tool, 0o755);
    await expect(runtime.execute(tool)).rejects.toMatchObject({
      code: "command_not_found",
      message: expect.stringContaining(`readonly_paths = [${JSON.stringify(tools)}]`),
    });
    const shown = await another({ readonly_paths: [tools] });
    expect((await shown.execute(tool)).exitCode).toBe(0);
  });

  test("is found on the operator's PATH together with what belongs to it", async () => {
    const prefix = join(state.scratch, "prefix");
    mkdirSync(join(prefix, "bin"), { recursive: true });
    mkdirSync(join(prefix, "lib"));
    writeFileSync(join(prefix, "lib", "part"), "part\n");
    writeFileSync(join(prefix, "bin", "tool"), '#!/bin/sh\ncat "$(dirname "$0")/../lib/part"\n', { mode: 0o755 });
    const before = process.env["PATH"];
    setHostEnv("PATH", pathWith(join(prefix, "bin")));
    onTestFinished(() => setHostEnv("PATH", before));
    const found = await another({});
    expect((await found.execute("tool")).stdout).toBe("part\n");
  });
});

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
  });
});

describe("its own words on stderr", () => {
  test("are told as the error of a command that cannot be run", async () => {
    const program = Buffer.from(readFileSync("/bin/true"));
    const at = program.indexOf("/lib64/ld-linux-x86-64.so.2");
    if (at === -1) return;
    program.write("/lib64/ld-linux-x86-64.so.9", at);
    writeFileSync(join(work, "bad"), program, { mode: 0o755 });
    for (let round = 0; round < 5; round += 1)
      await expect(runtime.execute("./bad", [], { workingDir: work })).rejects.toMatchObject({
        code: "not_executable",
        message: expect.stringContaining("is not seen in the sandbox"),
      });
  });

  test("hold nobody up who only speaks alike", async () => {
    const script = "printf 'bwrap: x\\n' >&2; sleep 0.5; head -c 300000 /dev/zero | tr '\\0' a >&2; echo done";
    const output = await shell(script, { timeoutMs: 20_000 });
    expect(output).toMatchObject({ outcome: "completed", exitCode: 0, stdout: "done\n", stderrTotalBytes: 300_009 });
  });
});

test("no value of a variable is in any argv, inside or outside", async () => {
  const env = { TOKEN: "abc123secret" };
  const running = runtime.stream(
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

test("explain shows what is seen and the exact argv, and no value", async () => {
  const { lowering, clauses, addedEnv } = await runtime.explain("make", [], {
    workingDir: work,
    env: { TOKEN: "s3cret" },
  });
  expect(lowering).toMatch(/^spawn ".*bwrap" "--unshare-all"/);
  expect(lowering).toContain(`writable: ${work}`);
  expect(lowering).not.toContain("s3cret");
  expect(addedEnv).toEqual(["PWD"]);
  expect(clauses.filter(({ demanded }) => demanded).map(({ verdict }) => verdict.grade)).toEqual(
    Array(4).fill("enforced"),
  );
});

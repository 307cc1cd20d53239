/** What a local process gets of its host, and what it does not: groups, descriptors, signals, sizes. */

import { execFile } from "node:child_process";
import { chmodSync, chownSync, closeSync, existsSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRuntime, type Runtime } from "../../mod.ts";
import { isolateState } from "../fixtures/host-target.ts";
import { runScript } from "../fixtures/runtimes.ts";

const state = isolateState();
let runtime: Runtime;

beforeAll(async () => {
  runtime = await createRuntime({ runtime: { backend: "native" } });
});

afterAll(async () => {
  await runtime.close();
  state.remove();
});

async function shell(script: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const output = await runtime.execute("/bin/sh", ["-c", script]);
  expect(output).toMatchObject({ outcome: "completed", exitCode: 0 });
  return output;
}

test.skipIf(process.platform !== "linux")("a command leads a group and a session of its own", async () => {
  const { stdout } = await shell(
    'read -r pid name state parent group session rest < /proc/$$/stat; echo "$$ $group $session"',
  );
  const [pid, group, session] = stdout.trim().split(" ");
  expect([group, session]).toEqual([pid, pid]);
});

test.skipIf(process.platform !== "linux")("a command inherits nothing that its host has opened", async () => {
  const marked = join(state.scratch, "tmp", "held");
  const held = [openSync(marked, "w"), openSync(marked, "r"), openSync("/etc/passwd", "r")];
  const { stdout } = await shell("ls -l /proc/$$/fd; :");
  for (const fd of held) closeSync(fd);
  // What the host itself inherited is its own host's doing: Deno passes it on.
  const targets = [...stdout.matchAll(/ (\d+) -> (.*)$/gm)]
    .filter(([, fd]) => Number(fd) > 2)
    .map(([, , path]) => path);
  expect(targets.filter((path) => path === "/etc/passwd" || path?.startsWith(state.scratch))).toEqual([]);
});

test.skipIf(process.platform !== "linux")(
  "a command begins with every signal at its default, none blocked",
  async () => {
    const { stdout } = await shell('while read -r line; do echo "$line"; done < /proc/$$/status');
    const mask = (name: string) => BigInt(`0x${new RegExp(`^${name}:\\s*([0-9a-f]+)`, "m").exec(stdout)?.[1]}`);
    expect([mask("SigIgn"), mask("SigBlk")]).toEqual([0n, 0n]);
  },
);

test("a pipeline ends quietly when its reader has enough", async () => {
  const { stdout, stderr } = await shell("yes | head -n 2; seq 1000000 | head -n 1");
  expect([stdout, stderr]).toEqual(["y\ny\n1\n", ""]);
});

test("output can be opened again by name", async () => {
  const { stdout, stderr } = await shell(
    "echo one > /dev/stdout; echo two > /dev/stderr; echo three | tee /dev/stderr",
  );
  expect([stdout, stderr]).toEqual(["one\nthree\n", "two\nthree\n"]);
});

test("an environment that is too large is an error of its own, and the host lives on", async () => {
  const env = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`V${index}`, "x".repeat(100_000)]));
  const attempt = runtime.execute("/bin/true", [], { env });
  await expect(attempt).rejects.toMatchObject({ code: "argument_list_too_long", started: "no" });
  expect(await runtime.execute("/bin/true")).toMatchObject({ exitCode: 0 });
});

test("a command that removes its own working directory does no harm", async () => {
  const output = await runtime.execute("/bin/sh", ["-c", 'rm -rf "$PWD"'], { files: { a: "1" }, outputs: ["a"] });
  expect(output).toMatchObject({ outcome: "completed", exitCode: 0, files: {} });
});

const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => existsSync(path));
const unshare = ["/usr/bin/unshare", "/bin/unshare"].find((path) => existsSync(path));
const nobody = 65_534;

describe.each([
  ["with cgroups", []],
  ["with process groups", [setpriv ?? "", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"]],
] as const)("a host that is the first process of its container, %s", (_, identity) => {
  test("is not held up by orphans that nobody waits for", { timeout: 60_000 }, async ({ skip }) => {
    if (process.getuid?.() !== 0 || unshare === undefined || setpriv === undefined)
      skip("needs root, unshare and setpriv");
    const home = mkdtempSync(join(tmpdir(), "first-"));
    if (identity.length > 0) chownSync(home, nobody, nobody);
    chmodSync(home, 0o700);
    chmodSync(join(state.scratch, "tmp"), 0o755);
    chmodSync(state.scratch, 0o755);
    const script = fileURLToPath(new URL("../fixtures/first-process-host.ts", import.meta.url));
    const env = { PATH: "/usr/bin:/bin", HOME: home, TMPDIR: home, DENO_DIR: join(home, "deno") };
    const args = ["--pid", "--fork", "--mount-proc", ...identity, ...runScript, script];
    const cwd = fileURLToPath(new URL("../..", import.meta.url));
    const { stdout } = await promisify(execFile)(unshare ?? "", args, { env, cwd });
    const { pid, results, outcome } = JSON.parse(stdout);
    rmSync(home, { recursive: true, force: true });
    expect(pid).toBe(1);
    expect(outcome).toBe("timed_out");
    const quick = { exitCode: 0, stdout: "started\n", codes: [], quick: true };
    expect(results).toEqual([quick, quick, quick]);
  });
});

/** What README.md and THREAT_MODEL.md say of local processes, tried on the runtime at hand. */

import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { createRuntime } from "../../mod.ts";
import { markedProcesses } from "../fixtures/host-target.ts";
import { runScript, runtimeName } from "../fixtures/runtimes.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "prx-claims-")));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const onLinuxOnly = "it looks into /proc";

function start(script: string, args: readonly string[], shell = 'exec "$@"') {
  const words = [...runScript, fileURLToPath(new URL(`../fixtures/${script}`, import.meta.url)), ...args];
  // bash, because a plain sh knows no descriptor above 9.
  return spawnSync("bash", ["-c", shell, "bash", ...words], {
    cwd: root,
    env: { ...process.env, TMPDIR: scratch, PRX_STATE_DIR: join(scratch, "state"), HOST_SECRET: "s3cret" },
    encoding: "utf8",
    timeout: 25_000,
  });
}

describe("a host that was started with descriptors 9 and 20", () => {
  const facts = (...args: string[]) =>
    start("documented-facts.ts", args, 'exec 9</etc/passwd 20</etc/passwd; exec "$@"');
  const different = {
    node: { inherited: "", realTimeSignal: ["completed", 0, null], stdin: "refused" },
    bun: { inherited: "", realTimeSignal: ["completed", 162, null], stdin: "refused" },
    deno: { inherited: "9\n20", realTimeSignal: ["completed", 162, null], stdin: "text" },
  };

  test("the security notes hold", ({ skip }) => {
    if (process.platform !== "linux") skip(onLinuxOnly);
    const { stdout, stderr } = facts();
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({
      ...different[runtimeName],
      opened: "",
      argv0: expect.stringMatching(/^\/.*\/sh$/),
      outputs: "one\nthree\nthree",
      terminal: ["not a tty", true],
      controlSequences: "\u001b[31mred",
      secretInEnvironment: "",
      secretOfTheHost: "HOST_SECRET=s3cret",
      toolWithAnotherCommand: "any program",
      toolWithAnotherPath: "invalid_request",
      shellForm: "/bin/bash a b",
      host: "alive",
    });
  });

  test("a command can end its own host", ({ skip }) => {
    if (process.platform !== "linux") skip(onLinuxOnly);
    const { signal, stdout } = facts("--end-host");
    expect({ signal, stdout }).toEqual({ signal: "SIGKILL", stdout: "" });
  });
});

describe("a host that ends while its command runs", () => {
  const survives = { exit: false, close: false, error: runtimeName === "deno", signal: true };

  test.for(Object.entries(survives))("by %s: the command survives: %s", async ([way, isLeft], { skip }) => {
    if (process.platform !== "linux") skip(onLinuxOnly);
    const marker = crypto.randomUUID();
    const running = () => markedProcesses("DOCS_MARKER", marker).length > 0;
    const privateDirectories = () => readdirSync(scratch).filter((name) => /^prx-(?!runtime)/.test(name));
    start("ending-host.ts", [marker, way]);
    await expect.poll(running, { timeout: 3000 }).toBe(isLeft);
    // The next start of anybody with the same records ends it.
    start("crash-host.ts", ["start"]);
    await expect.poll(running, { timeout: 3000 }).toBe(false);
    if (isLeft) expect(privateDirectories().length).toBeGreaterThan(0);
    for (const name of privateDirectories()) rmSync(join(scratch, name), { recursive: true });
  });
});

test("a command that is root can leave its cgroup, and nothing says so", async ({ skip }) => {
  const trunk = "/sys/fs/cgroup/pids/cgroup.procs";
  await using runtime = await createRuntime({ runtime: { backend: "native" } });
  const { lowering } = await runtime.explain("true");
  if (process.getuid?.() !== 0 || !lowering.includes("cgroup v1")) skip("needs root and cgroup version 1");
  const marker = crypto.randomUUID();
  const leaving = `setsid sh -c 'echo 0 >${trunk}; exec sleep 120' >/dev/null 2>&1 & sleep 0.5`;
  const output = await runtime.execute("sh", ["-c", leaving], { env: { DOCS_MARKER: marker } });
  const left = markedProcesses("DOCS_MARKER", marker);
  for (const pid of left) process.kill(pid, "SIGKILL");
  expect({ left: left.length, warnings: output.warnings }).toEqual({ left: 1, warnings: [] });
});

describe("what is not in this version is refused", () => {
  test.each(["kubernetes", "remote"])("backend %s", async (backend) => {
    const remote = backend === "remote" ? { remote: { url: "https://prx.example" } } : {};
    await expect(createRuntime({ runtime: { backend, ...remote } })).rejects.toMatchObject({
      code: "backend_unavailable",
      message: expect.stringContaining("This version of prx-runtime does not hold the backend"),
    });
  });
});

test("a directory of records that somebody else could write is not used", async () => {
  const before = process.env["PRX_STATE_DIR"];
  process.env["PRX_STATE_DIR"] = join(scratch, "open");
  mkdirSync(join(scratch, "open"));
  chmodSync(join(scratch, "open"), 0o777);
  try {
    await expect(createRuntime({ runtime: { backend: "native" } })).rejects.toMatchObject({
      code: "backend_unavailable",
      message: expect.stringContaining("is not a directory that only this user may write"),
    });
  } finally {
    if (before === undefined) delete process.env["PRX_STATE_DIR"];
    else process.env["PRX_STATE_DIR"] = before;
  }
});

test("the versions that README.md names are those of the checkout", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const [name, title] of Object.entries({ node: "Node", bun: "Bun", deno: "Deno" })) {
    const [, version = ""] = new RegExp(`^\\| ${title} ([\\d.]+) \\|`, "m").exec(readme) ?? [];
    expect(`${devDependencies[name]}.`).toMatch(new RegExp(`^${version.replaceAll(".", "\\.")}\\.`));
    expect(version).not.toBe("");
  }
});

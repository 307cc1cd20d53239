/** Starts the program from the checkout under Node, Bun and Deno, as `./prx` does. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = (name: string) => join(root, "node_modules", ".bin", name);
const cli = join(root, "cli.ts");

/** What goes in front of the program's own words, by runtime. */
export const runtimes = {
  node: [bin("node"), cli],
  bun: [bin("bun"), "--no-env-file", "--no-install", "--config=/dev/null", cli],
  deno: [bin("deno"), "run", "--quiet", "--allow-all", "--no-lock", "--config", join(root, "deno.json"), cli],
} as const;

export type RuntimeName = keyof typeof runtimes;

export const runtimeNames = Object.keys(runtimes) as RuntimeName[];

/** A place of this test file's own: home, caches, records and the configuration, removed at the end. */
export function makePlace(toml = '[runtime]\nbackend = "native"\n') {
  const folder = mkdtempSync(join(tmpdir(), "prx-cli-"));
  const config = join(folder, "prx.toml");
  writeFileSync(config, toml);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const env: Readonly<Record<string, string>> = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: folder,
    PRX_CONFIG: config,
    PRX_STATE_DIR: join(folder, "state"),
  };
  return { folder, config, env };
}

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface StartOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** All of stdin; `"open"` keeps it open and silent; by default it is `/dev/null`. */
  readonly stdin?: string | Uint8Array;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Settles when stdout has this in it. */
  saw(text: string): Promise<void>;
}

/** Starts the program; what still runs after a minute is ended and fails the test. */
export function start(runtime: RuntimeName, words: readonly string[], options: StartOptions): Started {
  return startArgv([...runtimes[runtime], ...words], options);
}

export function startArgv([file = "", ...args]: readonly string[], { env, cwd, stdin }: StartOptions): Started {
  const child = spawn(file, args, { env, cwd, stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"] });
  child.stdin?.on("error", () => {});
  if (stdin !== undefined && stdin !== "open") child.stdin?.end(stdin);
  const chunks: Buffer[] = [];
  let stderr = "";
  let wake = () => {};
  child.stdout?.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    wake();
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const limit = setTimeout(() => child.kill("SIGKILL"), 25_000);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      clearTimeout(limit);
      wake();
      resolve({ code, signal, stdout: Buffer.concat(chunks), stderr });
    });
  });
  const saw = async (text: string) => {
    while (!Buffer.concat(chunks).toString("latin1").includes(text)) {
      if (child.exitCode !== null) throw new Error(`It ended without ${JSON.stringify(text)}: ${stderr}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, 100);
      });
    }
  };
  return { child, ended, saw };
}

/** Runs the program to its end. */
export async function prx(runtime: RuntimeName, words: readonly string[], options: StartOptions): Promise<Ended> {
  return start(runtime, words, options).ended;
}

/** What a test mostly asks about. */
export function textOf({ code, stdout, stderr }: Ended) {
  return { code, stdout: stdout.toString(), stderr };
}

/** Fails unless the process is gone, or goes within a moment: the kernel takes one to let go of a killed process. */
export async function expectGone(pid: number): Promise<void> {
  expect(pid).toBeGreaterThan(1);
  await expect.poll(() => isAlive(pid), { timeout: 1000, interval: 20 }).toBe(false);
}

/** A zombie runs no more: it waits for its parent, and that is not us. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch (error) {
    // Where there is no /proc, the signal's answer counts.
    return error instanceof Error && "syscall" in error && error.syscall === "open" && !existsSync("/proc/self/stat");
  }
}

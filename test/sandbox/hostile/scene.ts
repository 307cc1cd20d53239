/** What an attack finds on the host: secrets, victims, listeners. All of it is gone when the scene is over. */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { pause } from "../../../host/pause.ts";

export interface Scene {
  /** Unique to this attack; stands in names. */
  readonly marker: string;
  /** Unique to this attack; stands in no name, no script and no variable of the command. */
  readonly secret: string;
  /** The command's working directory. */
  readonly workspace: string;
  /** A directory of the host user's, in the home directory. The command has no business there. */
  readonly outside: string;
  /** Another project's directory, beside the workspace. */
  readonly beside: string;
  /** Writes a file of the host's and answers its path. */
  write(path: string, content: string): string;
  /** Where an attack will write; what is there afterwards is removed. */
  trap(path: string): string;
  /** A process of the host user's that has nothing to do with the command. Ended afterwards. */
  victim(script?: string, env?: Readonly<Record<string, string>>): Promise<Victim>;
  /** A part of the host that listens: see `hostile/host-side.py`. */
  hostSide(role: string, ...args: readonly string[]): Promise<HostSide>;
  /** Called at the end, last first. */
  defer(undo: () => void): void;
}

export interface Victim {
  readonly pid: number;
  /** The state letter of proc_pid_stat(5); `"gone"` when it is over. */
  state(): string;
}

export interface HostSide {
  readonly pid: number;
  /** What it said when it was ready: a port, a path, a key. */
  readonly told: string;
  /** What reached it until now, in lines. */
  drain(): Promise<readonly string[]>;
}

/** Sets the scene, lets `act` work in it, and clears it away. */
export async function withScene<Result>(act: (scene: Scene) => Promise<Result>): Promise<Result> {
  const undo: (() => void)[] = [];
  const remove = (path: string) => undo.push(() => rmSync(path, { recursive: true, force: true }));
  const parent = realpathSync(mkdtempSync(join(tmpdir(), "hostile-")));
  remove(parent);
  const outside = realpathSync(mkdtempSync(join(homedir(), ".prx-hostile-")));
  remove(outside);
  const [workspace, beside] = [join(parent, "work"), join(parent, "other")];
  for (const directory of [workspace, beside]) mkdirSync(directory);
  const scene: Scene = {
    marker: `prx-hostile-${randomBytes(6).toString("hex")}`,
    secret: `s3cret-${randomBytes(12).toString("hex")}`,
    workspace,
    outside,
    beside,
    write(path, content) {
      const made = mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      remove(made ?? path);
      writeFileSync(path, content, { flag: "wx", mode: 0o600 });
      return path;
    },
    trap(path) {
      remove(path);
      return path;
    },
    victim: (script = "exec sleep 600", env = {}) => startVictim(script, { env, cwd: outside, undo }),
    hostSide: (role, ...args) => startHostSide([role, ...args], undo),
    defer: (step) => void undo.push(step),
  };
  try {
    return await act(scene);
  } finally {
    const failed = undo.reverse().flatMap((step) => {
      try {
        step();
        return [];
      } catch (error) {
        return [error];
      }
    });
    if (failed.length > 0) console.error("An attack could not be cleared away", failed);
  }
}

async function startVictim(
  script: string,
  { env, cwd, undo }: { env: Readonly<Record<string, string>>; cwd: string; undo: (() => void)[] },
): Promise<Victim> {
  const child = spawn("/bin/sh", ["-c", script], { env: { PATH: "/usr/bin:/bin", ...env }, cwd, stdio: "ignore" });
  await once(child, "spawn");
  const pid = pidOf(child);
  undo.push(() => child.kill("SIGKILL"));
  const state = () => stateOf(pid);
  // The shell has become what it was to become when its name says so.
  while (commandOf(pid) !== "sleep") await new Promise((resolve) => setTimeout(resolve, 5));
  return { pid, state };
}

async function startHostSide(args: readonly string[], undo: (() => void)[]): Promise<HostSide> {
  const program = fileURLToPath(new URL("host-side.py", import.meta.url));
  const child = spawn("/usr/bin/env", ["python3", program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  undo.push(() => child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`The host's side (${args[0]}) ended`);
    return value;
  };
  const told = await next();
  return {
    pid: pidOf(child),
    told,
    async drain() {
      child.stdin.write("drain\n");
      const seen: string[] = [];
      for (let line = await next(); line !== "drained"; line = await next()) seen.push(line);
      return seen;
    },
  };
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error("The process did not start");
  return child.pid;
}

function stateOf(pid: number): string {
  const stat = read(`/proc/${pid}/stat`);
  const state = stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  return state === "" || state === "Z" || state === "X" ? "gone" : state;
}

const commandOf = (pid: number): string => read(`/proc/${pid}/comm`).trim();

/** Processes of this machine with a text in their command line, zombies not counted. */
export function processesNaming(text: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => read(`/proc/${name}/cmdline`).includes(text))
    .map(Number);
}

/** Empty where there is nothing to read. */
export function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Whether something becomes so: a signal takes effect when the process that gets it has its turn. */
export async function soon(isSo: () => boolean): Promise<boolean> {
  for (const until = performance.now() + 1000; performance.now() < until; await pause(10)) if (isSo()) return true;
  return false;
}

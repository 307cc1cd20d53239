/** Programs that go on after the rig's script is over, each named by a file with its pid and ended by nothing but that. */

import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rigHome } from "./place.ts";

const pidFile = (name: string) => join(rigHome, "run", `${name}.pid`);

export interface BackgroundProgram {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
}

/** Starts it in a session of its own; what it says goes to a log. */
export function startProgram({ name, program, args }: BackgroundProgram): void {
  mkdirSync(join(rigHome, "run"), { recursive: true });
  const log = openSync(join(rigHome, `${name}.log`), "a");
  // Nothing of a test that starts it: its temporary directory will be gone.
  const env = { PATH: process.env["PATH"], HOME: rigHome };
  const child = spawn(program, args, { detached: true, stdio: ["ignore", log, log], cwd: rigHome, env });
  closeSync(log);
  child.on("error", () => {});
  child.unref();
  if (child.pid !== undefined) writeFileSync(pidFile(name), `${child.pid} ${startOf(child.pid)}`);
}

/** The pid of a program that this rig started and that still runs. */
export function runningPid(name: string): number | null {
  if (!existsSync(pidFile(name))) return null;
  const [pid = "", since = ""] = readFileSync(pidFile(name), "utf8").split(" ");
  // A pid is used again: the start time tells whether it is still the same process.
  return since !== "" && startOf(Number(pid)) === since ? Number(pid) : null;
}

/** Ends it, and waits until it is gone. */
export async function stopProgram(name: string): Promise<void> {
  const pid = runningPid(name);
  if (pid !== null) {
    process.kill(pid, "SIGTERM");
    if (!(await within(20_000, () => runningPid(name) === null))) process.kill(pid, "SIGKILL");
    await within(5000, () => runningPid(name) === null);
  }
  rmSync(pidFile(name), { force: true });
}

/** Waits for what has no event; answers whether it came. */
export async function within(ms: number, claim: () => boolean): Promise<boolean> {
  const until = performance.now() + ms;
  while (!claim()) {
    if (performance.now() > until) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return true;
}

function startOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? "" : (fields[19] ?? "");
  } catch {
    return "";
  }
}

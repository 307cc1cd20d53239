/** Real processes for tests that end some: each a leader of its own group, all of them gone after the test. */

import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { findProcess, listProcesses, type ProcessEntry } from "../../host/process-table.ts";

/** Waits until something is so, or fails. */
export async function until(claim: () => boolean, what: string, withinMs = 15_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!claim()) {
    if (performance.now() > end) throw new Error(`It never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Whether a process runs: a zombie does not. */
export function runs(pid: number): boolean {
  const found = findProcess(pid);
  return found !== null && !found.zombie;
}

/** Kills exactly this process, if it is still the one that was meant. */
function endProcess({ pid, startedAt }: ProcessEntry): void {
  if (findProcess(pid)?.startedAt === startedAt) process.kill(pid, "SIGKILL");
}

/** Everything that has this argument, by which a test knows its own. */
export function marked(marker: string): readonly ProcessEntry[] {
  return listProcesses().filter(({ pid, zombie }) => !zombie && argumentsOf(pid).includes(marker));
}

function argumentsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** A shell command that does not listen to what is polite, and says in its working directory when it has begun not to. */
export function stubborn(marker: string): string {
  return `sh -c 'trap "" TERM; : > ready-$0-$$; while :; do sleep 0.05; done' ${marker}`;
}

/** A shell command that says that it was asked to end, and then does. */
export function polite(marker: string): string {
  return `sh -c 'trap "echo asked; exit" TERM; : > ready-$0-$$; while :; do sleep 0.02; done' ${marker} 2>/dev/null`;
}

/** Waits until that many of both have begun. */
export function begun(marker: string, count: number, workingDir: string): Promise<void> {
  const those = () => readdirSync(workingDir).filter((name) => name.startsWith(`ready-${marker}-`)).length;
  return until(() => those() === count, `${count} that have begun`);
}

let markers = 0;

/** An argument that no other test's processes have; whoever still has it when the test is over is killed. */
export function newMarker(): string {
  markers += 1;
  const marker = `prx-marker-${process.pid}-${markers}`;
  onTestFinished(() => {
    for (const entry of marked(marker)) endProcess(entry);
  });
  return marker;
}

/** A process that sleeps, or runs a script, as the leader of a group of its own. */
export async function startLeader(script = "exec sleep 60"): Promise<ProcessEntry> {
  const child = spawn("/bin/sh", ["-c", script], { detached: true, stdio: "ignore" });
  child.unref();
  const pid = child.pid ?? 0;
  await until(() => findProcess(pid)?.group === pid, "a leader of its own group");
  const entry = findProcess(pid);
  if (entry === null) throw new Error("It has gone already");
  onTestFinished(() => endProcess(entry));
  return entry;
}

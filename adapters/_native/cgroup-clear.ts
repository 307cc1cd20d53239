/** Ends and removes what is in cgroups, known by their directories only. */

import { existsSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { numbersIn, readText } from "./cgroup-files.ts";
import { signalProcess } from "./signals.ts";

/** Rounds of killing before a leaf is called stuck. One is enough unless something begins new processes as fast as they end. */
const mostRounds = 100;

/** Ends everything in a leaf, whatever it begins meanwhile: version 2 has a file for that, in version 1 all births are stopped first. */
export function killLeaf(directory: string): void {
  if (tryWrite(`${directory}/cgroup.kill`, "1")) return;
  tryWrite(`${directory}/pids.max`, "0");
  for (const pid of membersOf(directory)) signalProcess(pid, "SIGKILL");
}

/** What was in a trunk. */
export interface Cleared {
  /** Leaves in which something ran. */
  readonly found: number;
  /** Cgroups that are still there. */
  readonly stuck: readonly string[];
}

/** Ends everything below a trunk and removes it. */
export function clearTrunk(trunk: string): Cleared {
  let found = 0;
  const stuck: string[] = [];
  for (const leaf of leavesOf(trunk)) {
    // An empty one was only kept for the next execution.
    if (membersOf(leaf).length > 0) found += 1;
    if (!clearLeaf(leaf)) stuck.push(leaf);
  }
  if (!removeCgroup(trunk)) stuck.push(trunk);
  return { found, stuck };
}

function clearLeaf(leaf: string): boolean {
  for (let round = 0; round < mostRounds; round += 1) {
    if (membersOf(leaf).length === 0 && removeCgroup(leaf)) return true;
    killLeaf(leaf);
  }
  return false;
}

function leavesOf(trunk: string): readonly string[] {
  try {
    const entries = readdirSync(trunk, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(trunk, entry.name));
  } catch {
    return [];
  }
}

/** The host itself is left out: it may be passing through. */
function membersOf(directory: string): readonly number[] {
  return numbersIn(readText(`${directory}/cgroup.procs`)).filter((pid) => pid !== process.pid);
}

/** Answers whether the cgroup is gone. */
export function removeCgroup(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch {
    return !existsSync(directory);
  }
}

/** Answers whether the kernel took it. */
export function tryWrite(path: string, text: string): boolean {
  try {
    // Never made where it is missing: on a cgroup file system that fails anyway.
    writeFileSync(path, text, { flag: "r+" });
    return true;
  } catch {
    return false;
  }
}

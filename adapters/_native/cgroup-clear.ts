/** Ends and removes what is in cgroups, known by their directories only. */

import { dirname } from "node:path";
import { releaseHome } from "./cgroup-delegation.ts";
import { childrenOf, processesIn, removeCgroup, tryWrite } from "./cgroup-files.ts";
import { signalProcess } from "./signals.ts";

/** Rounds of killing before a leaf is called stuck. One is enough unless something begins new processes as fast as they end. */
const mostRounds = 100;

/**
 * Ends everything in a leaf, whatever it begins meanwhile: version 2 has a file for that, in version 1 births are stopped. Neither
 * spares anybody, so both are left alone while the host is in there.
 */
export function killLeaf(directory: string): void {
  const hostIsIn = processesIn(directory).includes(process.pid);
  if (!hostIsIn && tryWrite(`${directory}/cgroup.kill`, "1")) return;
  killMembers(directory);
  // Not before: a shell that cannot begin its next command ends by itself, and would not have been killed.
  if (!hostIsIn && tryWrite(`${directory}/pids.max`, "0")) killMembers(directory);
}

function killMembers(directory: string): void {
  for (const pid of membersOf(directory)) signalProcess(pid, "SIGKILL");
}

/** What was in a trunk. */
export interface Cleared {
  /** Leaves in which something ran. */
  readonly found: number;
  /** Cgroups that are still there. */
  readonly stuck: readonly string[];
}

/** Ends everything below a trunk and removes it, and gives back what had been handed down to it. */
export function clearTrunk(trunk: string): Cleared {
  let found = 0;
  const stuck: string[] = [];
  for (const leaf of childrenOf(trunk)) {
    // An empty one was only kept for the next execution.
    if (membersOf(leaf).length > 0) found += 1;
    if (!clearLeaf(leaf)) stuck.push(leaf);
  }
  if (!removeCgroup(trunk)) stuck.push(trunk);
  else stuck.push(...releaseHome(dirname(trunk)));
  return { found, stuck };
}

function clearLeaf(leaf: string): boolean {
  for (let round = 0; round < mostRounds; round += 1) {
    if (membersOf(leaf).length === 0 && removeCgroup(leaf)) return true;
    killLeaf(leaf);
  }
  return false;
}

/** The processes in a cgroup and in those made below it. The host itself is left out: it may be passing through. */
export function membersOf(directory: string): readonly number[] {
  const own = processesIn(directory).filter((pid) => pid !== process.pid);
  return [...own, ...childrenOf(directory).flatMap(membersOf)];
}

/** What the kernel is told to keep in a leaf, and what it has counted there. */

import { existsSync } from "node:fs";
import { killLeaf } from "./cgroup-clear.ts";
import { readKeyed, readNumber, tryWrite } from "./cgroup-files.ts";
import type { Leaf } from "./cgroup-leaf.ts";

/** What a command uses beyond its memory is not to be found again in swap. */
export function limitMemory({ branch, directory }: Leaf, bytes: number): void {
  if (branch.version === 2) tryWrite(`${directory}/memory.swap.max`, "0");
  const limit = branch.version === 2 ? "memory.max" : "memory.limit_in_bytes";
  // Refused when the command already uses more than it may: then it ends as it would have.
  if (!tryWrite(`${directory}/${limit}`, String(bytes))) killLeaf(directory);
  // Of memory and swap together: never less than of memory alone, so it comes second.
  const both = `${directory}/memory.memsw.limit_in_bytes`;
  if (branch.version === 1 && existsSync(both)) tryWrite(both, String(bytes));
}

export function limitPids({ directory }: Leaf, count: number): void {
  tryWrite(`${directory}/pids.max`, String(count));
}

/** How many processes the kernel has ended for want of memory. */
export function oomKills({ branch, directory }: Leaf): number {
  return readKeyed(`${directory}/${branch.version === 2 ? "memory.events" : "memory.oom_control"}`, "oom_kill");
}

/** In milliseconds, of all that ever ran in it; `null` where it cannot be told. */
export function cpuTime({ branch, directory }: Leaf): number | null {
  if (branch.version === 2) return readKeyed(`${directory}/cpu.stat`, "usage_usec") / 1000;
  const nanoseconds = readNumber(`${directory}/cpuacct.usage`);
  return nanoseconds === null ? null : nanoseconds / 1e6;
}

/** What the kernel is told to keep in a leaf, and what it has counted there. */

import { existsSync } from "node:fs";
import { killLeaf } from "./cgroup-clear.ts";
import { readKeyed, readNumber, tryWrite } from "./cgroup-files.ts";
import type { Leaf } from "./cgroup-leaf.ts";

/** More than any kernel counts to: PID_MAX_LIMIT of 64-bit Linux. */
const mostPids = 4_194_304;

/** What a command uses beyond its memory is not to be found again in swap. Answers whether the limit holds: if not, all is ended. */
export function limitMemory({ branch, directory }: Leaf, bytes: number): boolean {
  if (branch.version === 2) tryWrite(`${directory}/memory.swap.max`, "0");
  const limit = branch.version === 2 ? "memory.max" : "memory.limit_in_bytes";
  // Refused when the command already uses more than it may: then it ends as it would have.
  const taken = tryWrite(`${directory}/${limit}`, String(bytes));
  if (!taken) killLeaf(directory);
  // Of memory and swap together: never less than of memory alone, so it comes second.
  const both = `${directory}/memory.memsw.limit_in_bytes`;
  if (branch.version === 1 && existsSync(both)) tryWrite(both, String(bytes));
  return taken;
}

/** @throws Error when the kernel does not take it: all is ended then. */
export function limitPids({ directory }: Leaf, count: number): void {
  if (tryWrite(`${directory}/pids.max`, count > mostPids ? "max" : String(count))) return;
  killLeaf(directory);
  throw new Error(`The kernel does not take a limit of ${count} processes`);
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

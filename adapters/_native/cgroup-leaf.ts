/** One cgroup below our own, in one hierarchy: made, entered, looked into, removed. */

import { closeSync, existsSync, mkdirSync, openSync, readSync, writeFileSync, writeSync } from "node:fs";
import { clearTrunk, removeCgroup } from "./cgroup-clear.ts";
import { numbersIn, readText } from "./cgroup-files.ts";
import type { Hierarchy } from "./cgroup-mounts.ts";

/** A hierarchy with a directory for this host's leaves. */
export interface Branch extends Hierarchy {
  readonly trunk: string;
  /** Takes the calling thread (version 1) or the process (version 2) back to where it came from. */
  leave(): void;
  /** Ends what is left in its leaves. Answers whether all of it is gone; may be called again if not. */
  close(): boolean;
}

/** A cgroup for one execution at a time. */
export interface Leaf {
  readonly branch: Branch;
  readonly directory: string;
  /** Takes the calling thread (version 1) or the process (version 2) into it. */
  enter(): void;
  /** The processes in it, the host itself left out: it may pass through. */
  members(): readonly number[];
  /** Processes and threads, the dead that nobody has waited for included; `null` where the kernel does not count them. */
  population(): number | null;
  /** A thread that the host made while it passed through was born in here: takes it home. */
  expelOwnThreads(): void;
  /** Answers whether it is gone. */
  remove(): boolean;
}

/**
 * In version 1 one thread moves, by `tasks`: moving the calling thread takes no lock that the kernel holds for a grace
 * period, and a child is born into its parent thread's cgroup. Version 2 moves the whole process.
 */
function entrance({ version }: Hierarchy): string {
  return version === 1 ? "tasks" : "cgroup.procs";
}

/** @throws Error when the directory cannot be made. */
export function openBranch(hierarchy: Hierarchy, owner: string): Branch {
  const trunk = `${hierarchy.home}/prx-runtime-${owner}`;
  mkdirSync(trunk);
  let open = true;
  const homeFd = openSync(`${hierarchy.home}/${entrance(hierarchy)}`, "w");
  return {
    ...hierarchy,
    trunk,
    leave: () => {
      writeSync(homeFd, "0");
    },
    close: () => {
      if (open) closeSync(homeFd);
      open = false;
      return clearTrunk(trunk).stuck.length === 0;
    },
  };
}

/**
 * A new leaf. Its door and its counter stay open; its lists are read anew each time, because version 1 answers an open file
 * from a list that it made up to a second before.
 *
 * @throws Error when it cannot be made.
 */
export function openLeaf(branch: Branch, id: string): Leaf {
  const directory = `${branch.trunk}/${id}`;
  mkdirSync(directory);
  const door = openSync(`${directory}/${entrance(branch)}`, "r+");
  const counter = tryOpen(`${directory}/pids.current`);
  return {
    branch,
    directory,
    population: () => (counter === null ? null : readCount(counter)),
    enter: () => {
      writeSync(door, "0");
    },
    members: () => numbersIn(readText(`${directory}/cgroup.procs`)).filter((pid) => pid !== process.pid),
    expelOwnThreads: () => {
      if (branch.version === 1) expel(branch, numbersIn(readText(`${directory}/tasks`)));
    },
    remove: () => {
      closeSync(door);
      if (counter !== null) closeSync(counter);
      if (removeCgroup(directory)) return true;
      expel(branch, numbersIn(readText(`${directory}/tasks`)));
      return removeCgroup(directory);
    },
  };
}

function tryOpen(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch {
    return null;
  }
}

const digits = new Uint8Array(20);

function readCount(fd: number): number {
  const length = readSync(fd, digits, 0, digits.length, 0);
  let count = 0;
  for (let at = 0; at < length; at += 1) {
    const digit = (digits[at] ?? 0) - 48;
    if (digit >= 0 && digit <= 9) count = count * 10 + digit;
  }
  return count;
}

function expel({ home }: Branch, threads: readonly number[]): void {
  for (const thread of threads) {
    if (!existsSync(`/proc/self/task/${thread}`)) continue;
    try {
      writeFileSync(`${home}/tasks`, String(thread));
    } catch {
      // It ended in between.
    }
  }
}

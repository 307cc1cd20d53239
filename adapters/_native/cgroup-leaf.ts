/** One cgroup below our own, in one hierarchy: made, entered, looked into, removed. */

import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmdirSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import process from "node:process";
import type { Hierarchy } from "./cgroup-mounts.ts";

/** A hierarchy with a directory for this host's leaves. */
export interface Branch extends Hierarchy {
  readonly trunk: string;
  /** Takes the calling thread (version 1) or the process (version 2) back to where it came from. */
  leave(): void;
  close(): void;
}

/** A cgroup for one execution at a time. */
export interface Leaf {
  readonly branch: Branch;
  readonly directory: string;
  /** Takes the calling thread (version 1) or the process (version 2) into it. */
  enter(): void;
  /** The processes in it, the host itself left out: it may pass through. */
  members(): readonly number[];
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
  const homeFd = openSync(`${hierarchy.home}/${entrance(hierarchy)}`, "w");
  return {
    ...hierarchy,
    trunk,
    leave: () => {
      writeSync(homeFd, "0");
    },
    close: () => {
      closeSync(homeFd);
      removeCgroup(trunk);
    },
  };
}

/**
 * A new leaf. Its files stay open: opening them anew would take half of the time that an execution spends on its cgroup.
 *
 * @throws Error when it cannot be made.
 */
export function openLeaf(branch: Branch, id: string): Leaf {
  const directory = `${branch.trunk}/${id}`;
  mkdirSync(directory);
  const door = openSync(`${directory}/${entrance(branch)}`, "r+");
  const processes = branch.version === 1 ? openSync(`${directory}/cgroup.procs`, "r") : door;
  return {
    branch,
    directory,
    enter: () => {
      writeSync(door, "0");
    },
    members: () => numbersIn(readStart(processes)).filter((pid) => pid !== process.pid),
    expelOwnThreads: () => {
      if (branch.version === 1) expel(branch, numbersIn(readStart(door)));
    },
    remove: () => {
      closeSync(door);
      if (processes !== door) closeSync(processes);
      if (removeCgroup(directory)) return true;
      expel(branch, numbersIn(readText(`${directory}/tasks`)));
      return removeCgroup(directory);
    },
  };
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

/** The processes in a cgroup that is known by its directory only, the host itself left out. */
export function membersOf(directory: string): readonly number[] {
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

/** A file of one number; `null` where it cannot be read or says `max`. */
export function readNumber(path: string): number | null {
  return numbersIn(readText(path))[0] ?? null;
}

/** The number behind a key in a file of `key value` lines; 0 where there is none. */
export function readKeyed(path: string, key: string): number {
  const line = readText(path).match(new RegExp(`^${key} (\\d+)$`, "m"));
  return Number(line?.[1] ?? 0);
}

function numbersIn(text: string): readonly number[] {
  if (text === "") return [];
  return text
    .split("\n")
    .filter((line) => /^\d+$/.test(line))
    .map(Number);
}

const buffer = new Uint8Array(64 * 1024);
const decoder = new TextDecoder();

/** The beginning of an open file: more processes than fit are seen when the first of them are gone. */
function readStart(fd: number): string {
  const length = readSync(fd, buffer, 0, buffer.length, 0);
  return length === 0 ? "" : decoder.decode(buffer.subarray(0, length));
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** One cgroup below our own, in one hierarchy: made, entered, emptied, removed. */

import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmdirSync, writeFileSync, writeSync } from "node:fs";
import process from "node:process";
import type { Hierarchy } from "./cgroup-mounts.ts";

/** A hierarchy that is kept open, because each start goes through it twice. */
export interface Branch extends Hierarchy {
  /** The directory that holds this host's leaves. */
  readonly trunk: string;
  /** Takes the calling thread (version 1) or the process (version 2) back to where it came from. */
  leave(): void;
  close(): void;
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
  const trunk = `${hierarchy.home}/prx-runtime/${owner}`;
  mkdirSync(trunk, { recursive: true });
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
      // Another host may have its own below: then it stays.
      removeCgroup(`${hierarchy.home}/prx-runtime`);
    },
  };
}

/** A new leaf of a branch. Answers its directory. */
export function makeLeaf({ trunk }: Branch, id: string): string {
  const leaf = `${trunk}/${id}`;
  mkdirSync(leaf);
  return leaf;
}

/** Takes the calling thread or the process into a leaf. */
export function enterLeaf(branch: Branch, leaf: string): void {
  writeFileSync(`${leaf}/${entrance(branch)}`, "0");
}

/** The processes in a leaf, the host itself left out: it may pass through. */
export function membersOf(leaf: string): readonly number[] {
  return readNumbers(`${leaf}/cgroup.procs`).filter((pid) => pid !== process.pid);
}

/** A thread that the host made while it passed through was born in the leaf: takes it home. */
export function expelOwnThreads({ version, home }: Branch, leaf: string): void {
  if (version !== 1) return;
  for (const thread of readNumbers(`${leaf}/tasks`)) {
    if (!existsSync(`/proc/self/task/${thread}`)) continue;
    try {
      writeFileSync(`${home}/tasks`, String(thread));
    } catch {
      // It ended in between.
    }
  }
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
  const [number] = readNumbers(path);
  return number ?? null;
}

/** The number behind a key in a file of `key value` lines; 0 where there is none. */
export function readKeyed(path: string, key: string): number {
  const line = readText(path).match(new RegExp(`^${key} (\\d+)$`, "m"));
  return Number(line?.[1] ?? 0);
}

function readNumbers(path: string): readonly number[] {
  return readText(path)
    .split("\n")
    .filter((line) => /^\d+$/.test(line))
    .map(Number);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** One cgroup below our own, in one hierarchy: made, entered, looked into, removed. */

import { closeSync, existsSync, mkdirSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { findProcess } from "../../host/process-table.ts";
import { clearTrunk, membersOf } from "./cgroup-clear.ts";
import { handDown, passOn, seatIn } from "./cgroup-delegation.ts";
import { numbersIn, processesIn, readKeyed, readText, removeCgroup, tryWrite } from "./cgroup-files.ts";
import type { Hierarchy } from "./cgroup-mounts.ts";
import { trunkName } from "./cgroup-names.ts";

/** A hierarchy with a directory for this host's leaves. */
export interface Branch extends Hierarchy {
  readonly trunk: string;
  /**
   * Makes leaves that are opened from now on fit for limits.
   *
   * @throws Error when the kernel does not let it.
   */
  allowLimits(): void;
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
  /** The processes in it and below it, the host itself left out: it may pass through. */
  members(): readonly number[];
  /** Nothing in it and below it is alive. */
  isEmpty(): boolean;
  /** Once the host has left: only the child and what it began stay in here, and the child surely does. `child` is 0 if there is none. */
  settle(child: number): void;
  /** Commands can make cgroups of their own below. */
  isDivided(): boolean;
  /** Answers whether it is gone. */
  remove(): boolean;
}

/**
 * In version 1 one thread moves, by `tasks`: moving the calling thread takes no lock that the kernel holds for a grace
 * period, and a child is born into its parent thread's cgroup. Version 2 moves the whole process, and the kernel waits for a
 * grace period, some 10 ms, unless it did so a moment ago: it is paid by the first command after about 50 quiet milliseconds, and not
 * where version 2 is mounted with `favordynmods`.
 */
function entrance({ version }: Hierarchy): string {
  return version === 1 ? "tasks" : "cgroup.procs";
}

/** @throws Error when the directory cannot be made. */
export function openBranch(hierarchy: Hierarchy, owner: string): Branch {
  const { home, version } = hierarchy;
  const trunk = `${home}/${trunkName(owner)}`;
  const openHome = () => openSync(`${version === 2 ? seatIn(home) : home}/${entrance(hierarchy)}`, "r+");
  let homeFd = openHome();
  try {
    mkdirSync(trunk);
  } catch (error) {
    closeSync(homeFd);
    throw error;
  }
  let open = true;
  let limitable = version === 1;
  return {
    ...hierarchy,
    trunk,
    allowLimits: () => {
      if (limitable) return;
      handDown(home);
      passOn(trunk);
      limitable = true;
    },
    leave: () => {
      try {
        writeSync(homeFd, "0");
      } catch {
        // Another runtime, or another host, has handed controllers down or has undone it: home is elsewhere now.
        const newFd = openHome();
        closeSync(homeFd);
        homeFd = newFd;
        writeSync(homeFd, "0");
      }
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
  const first = branch.version === 1;
  const counter = first ? tryOpen(`${directory}/pids.current`) : null;
  // Processes and threads, the dead that nobody has waited for included.
  const population = () => (counter === null ? null : readCount(counter));
  const members = () => membersOf(directory);
  const settle = first ? expelThreads : sortProcesses;
  return {
    branch,
    directory,
    enter: () => {
      writeSync(door, "0");
    },
    members,
    isEmpty: () =>
      first ? population() === 0 || members().length === 0 : readKeyed(`${directory}/cgroup.events`, "populated") === 0,
    settle: (child) => {
      // One is the child alone.
      if (!first || population() !== 1) settle({ branch, directory }, child);
    },
    isDivided: () => isDivided(directory),
    remove: () => {
      closeSync(door);
      if (counter !== null) closeSync(counter);
      if (removeCgroup(directory)) return true;
      settle({ branch, directory }, 0);
      return removeCgroup(directory);
    },
  };
}

/** A cgroup's directory is linked to by each one below it, besides the usual two. */
function isDivided(directory: string): boolean {
  return (statSync(directory, { throwIfNoEntry: false })?.nlink ?? 0) > 2;
}

function tryOpen(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch {
    return null;
  }
}

const digits = new Uint8Array(20);

/** Of a cgroup that has been removed, with everybody in it, nothing can be read. */
function tryRead(fd: number): number {
  try {
    return readSync(fd, digits, 0, digits.length, 0);
  } catch {
    return 0;
  }
}

function readCount(fd: number): number {
  const length = tryRead(fd);
  let count = 0;
  for (let at = 0; at < length; at += 1) {
    const digit = (digits[at] ?? 0) - 48;
    if (digit >= 0 && digit <= 9) count = count * 10 + digit;
  }
  return count;
}

/** Version 1: a thread that the host made while it passed through was born in here. */
function expelThreads({ branch, directory }: Pick<Leaf, "branch" | "directory">): void {
  for (const thread of numbersIn(readText(`${directory}/tasks`))) {
    if (existsSync(`/proc/self/task/${thread}`)) tryWrite(`${branch.home}/tasks`, String(thread));
  }
}

/**
 * Version 2: another thread of the host may have begun a process of its own while the host passed through, and two threads that
 * pass through at one time take each other along.
 */
function sortProcesses({ branch, directory }: Pick<Leaf, "branch" | "directory">, child: number): void {
  const found = processesIn(directory);
  if (child > 0 && !found.includes(child)) tryWrite(`${directory}/cgroup.procs`, String(child));
  if (found.length < 2 && found[0] === child) return;
  for (const pid of found) {
    if (pid !== child && findProcess(pid)?.parent === process.pid)
      tryWrite(`${seatIn(branch.home)}/cgroup.procs`, String(pid));
  }
}

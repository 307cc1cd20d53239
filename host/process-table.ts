/** What the kernel says of processes: who is alive, since when, and who belongs to whom. */

import { readdirSync, readFileSync } from "node:fs";

/** One process. Its pid alone is not its name: pids are used again, so the start time belongs to it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** In the platform's own unit; only ever compared. */
  readonly startedAt: string;
  /** A zombie is over and only waits for its parent. One whose other threads go on, after its first has ended, is none. */
  readonly zombie: boolean;
}

/** The fields of `/proc/PID/stat` (proc_pid_stat(5)); `null` where the text is none. */
export function parseStat(text: string): ProcessEntry | null {
  // The name is in parentheses and may itself hold spaces and parentheses: what counts comes after the last one.
  const open = text.indexOf(" (");
  const rest = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, session] = rest;
  const [threads, , startedAt] = rest.slice(17);
  if (open < 1 || state === undefined || startedAt === undefined) return null;
  return {
    pid: Number(text.slice(0, open)),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startedAt,
    zombie: (state === "Z" || state === "X") && !(Number(threads) > 1),
  };
}

/**
 * Whether it is the first process of a PID namespace right below this one: nothing else of that number is meant where a
 * pid was told some time ago. Linux only.
 */
export function isInitBelow(pid: number): boolean {
  try {
    const numbers = /^NSpid:(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return numbers?.trim().split(/\s+/).join(" ") === `${pid} 1`;
  } catch {
    return false;
  }
}

/** Whether a process is known to have no child: where the kernel does not list them (proc(5), `children`), it may have one. */
export function hasNoChild(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim() === "";
  } catch {
    return false;
  }
}

/** The process of that pid, or `null`. */
export function findProcess(pid: number): ProcessEntry | null {
  if (process.platform === "linux") {
    try {
      return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
    } catch {
      return null;
    }
  }
  return listProcesses().find((entry) => entry.pid === pid) ?? null;
}

/** Every process that can be seen. */
export function listProcesses(): readonly ProcessEntry[] {
  if (process.platform === "linux") {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => findProcess(Number(name)))
      .filter((entry) => entry !== null);
  }
  if (process.platform === "win32") return [];
  // Loaded where it is needed: with the file it would cost a start on Bun as much as a command.
  const { execFileSync } = process.getBuiltinModule("node:child_process");
  try {
    return parsePs(execFileSync("/bin/ps", ["-axo", "pid=,ppid=,pgid=,sess=,stat=,lstart="], { encoding: "utf8" }));
  } catch {
    return [];
  }
}

/** The output of `ps -axo pid=,ppid=,pgid=,sess=,stat=,lstart=`, as on macOS and the BSDs. */
export function parsePs(text: string): readonly ProcessEntry[] {
  return text
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(.+?)\s*$/.exec(line))
    .filter((match) => match !== null)
    .map(([, pid, parent, group, session, state = "", startedAt = ""]) => ({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      // macOS prints a kernel address here: no session is known then.
      session: Number(session) || 0,
      startedAt,
      zombie: state.startsWith("Z"),
    }));
}

/** All that belongs to a process started as the leader of a group and session of its own: both of them, and every descendant. */
export function familyOf(leader: number, table: readonly ProcessEntry[]): readonly ProcessEntry[] {
  // Everybody descends from 0 and 1: a leader that was never started must not stand for all of them.
  if (!(leader > 1)) return [];
  const family = new Set([leader]);
  for (let before = 0; before !== family.size; ) {
    before = family.size;
    for (const { pid, parent, group, session } of table) {
      if (family.has(parent) || family.has(group) || family.has(session)) family.add(pid);
    }
  }
  return table.filter(({ pid, zombie }) => family.has(pid) && !zombie);
}

/**
 * The pids of a process that watches over a command, of its children, and of their group, which do so too: the command is
 * further down, in another group.
 */
export function watchersOf(leader: number, table: readonly ProcessEntry[]): ReadonlySet<number> {
  const watchers = table.filter(({ parent, group }) => parent === leader || group === leader);
  return new Set([leader, ...watchers.map(({ pid }) => pid)]);
}

/** Cgroups in which the hosts of the cases are started, and what is found in them afterwards. */

import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const root = "/sys/fs/cgroup";

/** Where a host is started. */
export interface Place {
  readonly directory: string;
  /** The user whom the directory is delegated to. */
  readonly uid: number;
}

export type PlaceKind = "own" | "user" | "root" | "without controllers";

/** As a service manager does it: a cgroup that its parent hands the controllers to, and to a user the files that delegation needs. */
export function makePlace(name: string, kind: PlaceKind): Place {
  const parent = join(root, "rig");
  mkdirSync(parent, { recursive: true });
  const handed = kind === "own" || kind === "user";
  for (const cgroup of handed ? [root, parent] : [parent, root])
    control(cgroup, handed ? "+memory +pids" : "-memory -pids");
  if (kind === "root") return { directory: root, uid: 0 };
  const directory = join(parent, name);
  mkdirSync(directory);
  const uid = kind === "user" ? 1000 : 0;
  for (const file of ["", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"])
    chownSync(join(directory, file), uid, uid);
  return { directory, uid };
}

/** Answers what a host has left behind, in words; empty where nothing is left. */
export function tracesIn({ directory }: Place): string {
  const children = readdirSync(directory).filter((name) => name.startsWith("prx-runtime"));
  const traces = children.map((name) => `the cgroup ${name} (${read(join(directory, name, "cgroup.procs"))})`);
  const handed = read(join(directory, "cgroup.subtree_control"));
  if (handed !== "") traces.push(`the controllers ${handed}`);
  return traces.join(", ");
}

/** @throws Error when something is still in there. */
export function removePlace({ directory }: Place): void {
  if (directory !== root) rmdirSync(directory);
}

/** The cgroup of a process, as a path below the mount point. */
export function cgroupOf(pid: number | "self"): string {
  return /^0::(.*)$/m.exec(read(`/proc/${pid}/cgroup`))?.[1] ?? "";
}

/** Pids of living processes with this word among their arguments. */
export function processesWith(word: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => read(`/proc/${pid}/cmdline`).split("\0").includes(word))
    .map(Number);
}

export function read(path: string): string {
  try {
    return existsSync(path) ? readFileSync(path, "utf8").trim() : "";
  } catch {
    // A process that has just ended.
    return "";
  }
}

function control(cgroup: string, change: string): void {
  writeFileSync(join(cgroup, "cgroup.subtree_control"), change);
}

/** Why a cgroup cannot be divided or cannot hand controllers down to its children, in words that say what to do. */

import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { findProcess } from "../../host/process-table.ts";
import { processesIn, readText, readWords, removeCgroup } from "./cgroup-files.ts";
import type { Hierarchy } from "./cgroup-mounts.ts";
import { trunkName } from "./cgroup-names.ts";

const remedy =
  "start this program alone in a cgroup of its own: by systemd-run --user --scope -p Delegate=yes, " +
  "as a service with Delegate=yes, or in a container whose cgroup is writable";

/** The root of version 2 may hold processes and children with controllers; it has fewer files than the others. */
export function isRoot(home: string): boolean {
  return !existsSync(`${home}/cgroup.type`);
}

/** Whether the children of a cgroup of version 2 have this controller. */
export function handsDown(home: string, controller: string): boolean {
  return readWords(`${home}/cgroup.subtree_control`).includes(controller);
}

/** Why children of the cgroup `home` of version 2 cannot have a controller; `null` if they have it or can have it. */
export function obstacleTo(home: string, controller: string): string | null {
  if (handsDown(home, controller)) return null;
  const given = readWords(`${home}/cgroup.controllers`).includes(controller);
  if (given && !isWritable(`${home}/cgroup.subtree_control`))
    return `The cgroup ${home} is not this user's to divide: ${remedy}`;
  if (isRoot(home)) {
    return given ? null : `The kernel has no ${controller} controller in cgroup version 2, or version 1 has taken it`;
  }
  if (!given) return `The cgroup ${home} is not given the ${controller} controller: ${remedy}`;
  const type = readText(`${home}/cgroup.type`).trim();
  if (type !== "domain") return `The cgroup ${home} is of type ${type} and hands no ${controller} down: ${remedy}`;
  const others = strangersIn(home);
  return others.length === 0 ? null : sharedWith(home, others);
}

function isWritable(path: string): boolean {
  try {
    closeSync(openSync(path, "r+"));
    return true;
  } catch {
    return false;
  }
}

/** The processes in a cgroup that are neither this one nor descend from it; 0 stands for each that cannot be seen from here. */
export function strangersIn(home: string): readonly number[] {
  return processesIn(home).filter((pid) => pid === 0 || (findProcess(pid) !== null && !isOwn(pid)));
}

function isOwn(pid: number): boolean {
  let at = pid;
  while (at > 1 && at !== process.pid) at = findProcess(at)?.parent ?? 0;
  return at === process.pid;
}

/** Why a cgroup with these other processes in it is left as it is. */
export function sharedWith(home: string, others: readonly number[]): string {
  const seen = others.filter((pid) => pid > 0).slice(0, 3);
  const names = seen.map((pid) => `${readText(`/proc/${pid}/comm`).trim()} ${pid}`).join(", ");
  const count = others.length === 1 ? "another process" : `${others.length} other processes`;
  return `The cgroup ${home} also holds ${count}${names === "" ? "" : ` (${names})`}, which stay as they are: ${remedy}`;
}

/** Why none of the hierarchies can hold a command. Asked only where making a cgroup has failed. */
export function whyUndivided(hierarchies: readonly Hierarchy[]): string {
  const home = (hierarchies.find(({ version }) => version === 2) ?? hierarchies[0])?.home;
  if (home === undefined) return "There is no cgroup file system mounted here that this process is in";
  return `The cgroup ${home} ${isReadOnly(home) ? "is mounted read-only" : "is not this user's to divide"}: ${remedy}`;
}

/** Only the attempt tells: Deno's `access` says nothing of it. */
function isReadOnly(home: string): boolean {
  const probe = `${home}/${trunkName(`probe-${process.pid}`)}`;
  try {
    mkdirSync(probe);
    removeCgroup(probe);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EROFS";
  }
}

/** Where this process is in the cgroup hierarchies. Sources: cgroups(7), proc_pid_mountinfo(5). */

import { readFileSync } from "node:fs";
import { seatName } from "./cgroup-names.ts";
import { inTurn } from "./cgroup-turn.ts";

/**
 * A hierarchy, and the directory of this process's own cgroup in it. A process that was born in a host's seat belongs to the
 * cgroup that the seat was made for.
 */
export interface Hierarchy {
  readonly version: 1 | 2;
  readonly controllers: readonly string[];
  readonly home: string;
}

/** Pure: the texts of `/proc/self/mountinfo` and `/proc/self/cgroup` to hierarchies. */
export function parseHierarchies(mountinfo: string, cgroups: string): readonly Hierarchy[] {
  const own = cgroups
    .trim()
    .split("\n")
    .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, names = "", path = "/"]) => ({ names: names.split(",").filter((name) => name !== ""), path }));
  const hierarchies: Hierarchy[] = [];
  for (const line of mountinfo.trim().split("\n")) {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root = "/", mountPoint = ""] = before.split(" ");
    const [type, , superOptions = ""] = after.split(" ");
    if (type !== "cgroup" && type !== "cgroup2") continue;
    const options = superOptions.split(",");
    const member = own.find(({ names }) =>
      type === "cgroup2" ? names.length === 0 : names.length > 0 && names.every((name) => options.includes(name)),
    );
    const inside = member && pathBelow(decodeOctal(root), member.path);
    if (member === undefined || inside === null || inside === undefined) continue;
    hierarchies.push({
      version: type === "cgroup2" ? 2 : 1,
      controllers: member.names.filter((name) => !name.startsWith("name=")),
      home: `${decodeOctal(mountPoint)}${(inside === "/" ? "" : inside).replace(seat, "")}`,
    });
  }
  return hierarchies;
}

const seat = new RegExp(`/${seatName}$`);

/** The path inside of a mount whose root is `root`; `null` when it is not below it. */
function pathBelow(root: string, path: string): string | null {
  // Seen from a cgroup namespace, what is outside of it begins with "/..": following it would lead out of the hierarchy.
  if (path.split("/").includes("..")) return null;
  if (root === "/" || root === path) return root === path ? "/" : path;
  return path.startsWith(`${root}/`) ? path.slice(root.length) : null;
}

/** The kernel writes blanks in roots and mount points as octal numbers. */
function decodeOctal(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** The hierarchies this process is in. Whether it may divide its cgroup shows when it tries: Deno's `access` knows no superuser. */
export function findHierarchies(): readonly Hierarchy[] {
  try {
    const mounts = readFileSync("/proc/self/mountinfo", "utf8");
    // While another thread passes through a cgroup of version 2, this one is there too.
    return parseHierarchies(mounts, mounts.includes("cgroup2") ? inTurn(readOwnCgroups) : readOwnCgroups());
  } catch {
    return [];
  }
}

function readOwnCgroups(): string {
  return readFileSync("/proc/thread-self/cgroup", "utf8");
}

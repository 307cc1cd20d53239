/** Reads and writes the small text files by which the kernel tells of a cgroup, and removes its directory. */

import { existsSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A file of one number; `null` where it cannot be read or says `max`. */
export function readNumber(path: string): number | null {
  return numbersIn(readText(path))[0] ?? null;
}

/** The number behind a key in a file of `key value` lines; 0 where there is none. */
export function readKeyed(path: string, key: string): number {
  const line = readText(path).match(new RegExp(`^${key} (\\d+)$`, "m"));
  return Number(line?.[1] ?? 0);
}

/** The words of a file, as controllers are listed. */
export function readWords(path: string): readonly string[] {
  return readText(path)
    .split(/\s+/)
    .filter((word) => word !== "");
}

/** The lines that are numbers. */
export function numbersIn(text: string): readonly number[] {
  if (text === "") return [];
  return text
    .split("\n")
    .filter((line) => /^\d+$/.test(line))
    .map(Number);
}

/** A file's text; empty where it cannot be read. */
export function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Answers whether the kernel took it. */
export function tryWrite(path: string, text: string): boolean {
  try {
    // Never made where it is missing: on a cgroup file system that fails anyway.
    writeFileSync(path, text, { flag: "r+" });
    return true;
  } catch {
    return false;
  }
}

/** The cgroups right below one. */
export function childrenOf(directory: string): readonly string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(directory, entry.name));
  } catch {
    return [];
  }
}

/** The processes directly in a cgroup. */
export function processesIn(directory: string): readonly number[] {
  return numbersIn(readText(`${directory}/cgroup.procs`));
}

/** With all that was made below it, as long as nothing runs there. Answers whether it is gone. */
export function removeCgroup(directory: string): boolean {
  if (tryRemove(directory)) return true;
  const children = childrenOf(directory);
  return children.length > 0 && children.every(removeCgroup) && tryRemove(directory);
}

function tryRemove(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch {
    return !existsSync(directory);
  }
}

/** Reads the small text files by which the kernel tells of a cgroup. */

import { readFileSync } from "node:fs";

/** A file of one number; `null` where it cannot be read or says `max`. */
export function readNumber(path: string): number | null {
  return numbersIn(readText(path))[0] ?? null;
}

/** The number behind a key in a file of `key value` lines; 0 where there is none. */
export function readKeyed(path: string, key: string): number {
  const line = readText(path).match(new RegExp(`^${key} (\\d+)$`, "m"));
  return Number(line?.[1] ?? 0);
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

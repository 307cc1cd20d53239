/** Where this very program is. What a command changes there runs at the next start, outside of every sandbox. */

import { readFileSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { cacheDirectory } from "./cache-directory.ts";

/** Real paths of the host. */
export interface OwnProgram {
  /** Its package, or its checkout; `null` where it is a part of another program's file. */
  readonly root: string | null;
  /** All that it consists of: files and directories, the root among them. */
  readonly places: readonly string[];
}

const name = "prx-runtime";

/**
 * @param code a file of the program
 * @param executable what runs it
 * @param compiled where compiled code is kept: it is run as it is, whatever it was compiled from
 */
export function findOwnProgram(
  code: string | null = import.meta.url.startsWith("file:") ? fileURLToPath(import.meta.url) : null,
  executable: string = process.execPath,
  compiled: string | null = cacheDirectory(),
): OwnProgram {
  const file = code === null ? null : realPathOf(code);
  const root = file === null ? null : rootOf(file);
  const own = root ?? file;
  const cache = compiled === null ? null : realPathOf(compiled);
  const places = new Set([own, realPathOf(executable), cache].filter((place) => place !== null));
  if (root !== null) addDependencies(root, places);
  return { root, places: [...places] };
}

function rootOf(file: string): string | null {
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    if (manifestOf(directory)?.name === name) return directory;
    if (directory === dirname(directory)) return null;
  }
}

/** Package managers put them beside the package, where they are the project's as much as the program's. */
function addDependencies(directory: string, places: Set<string>): void {
  for (const dependency of namesIn(manifestOf(directory))) {
    const place = findPackage(dependency, directory);
    if (place === null || places.has(place)) continue;
    places.add(place);
    addDependencies(place, places);
  }
}

/** Those that may be missing are loaded all the same where they are there. */
function namesIn(manifest: Manifest | null): readonly string[] {
  return Object.keys({ ...manifest?.dependencies, ...manifest?.optionalDependencies });
}

function findPackage(wanted: string, from: string): string | null {
  for (let directory = from; ; directory = dirname(directory)) {
    const place = realPathOf(join(directory, "node_modules", wanted));
    if (place !== null) return place;
    if (directory === dirname(directory)) return null;
  }
}

interface Manifest {
  readonly name?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function manifestOf(directory: string): Manifest | null {
  try {
    return JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  } catch {
    return null;
  }
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** What the program's root holds of it. Whatever else is below is a project that somebody keeps in the checkout. */
const parts = [".git", "adapters", "cli", "dist", "host", "k8s", "node_modules", "scripts", "src"];

/** The part of the program that a directory is in, or is; `null`: none. Pure. */
export function partAround(directory: string, { root, places }: OwnProgram): string | null {
  const place = places.find((candidate) => isAtOrBelow(directory, candidate));
  if (place === undefined || (place === root && isBeside(directory.slice(root.length + 1)))) return null;
  return place;
}

/** The part of the program that is in a directory; `null`: none. Pure. */
export function partIn(directory: string, { places }: OwnProgram): string | null {
  return places.find((candidate) => isAtOrBelow(candidate, directory)) ?? null;
}

function isAtOrBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`);
}

function isBeside(below: string): boolean {
  const [first = ""] = below.split("/");
  return first !== "" && !parts.includes(first);
}

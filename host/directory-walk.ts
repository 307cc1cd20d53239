/** Follows paths in a directory that somebody hostile may be changing meanwhile, and never out of it. */

import { mkdirSync, readlinkSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { type HeldDirectory, holdDirectory, holdEntry } from "./held-directory.ts";

/** A path led, by a link, out of the directory that it was to stay in. */
export class LeadsOut extends Error {
  /** @param part the name in the path where that happened */
  constructor(part: string) {
    super(`${part} leads out of the working directory`);
  }
}

/** How a path is followed. */
export interface WalkOptions {
  /** Told of each directory that was missing and has been made. Without it a missing one is an error. */
  readonly made?: (place: string) => void;
  /** Told of the directories that lead to a missing one, before it is made; ends the walk by throwing. */
  readonly missing?: (above: readonly HeldDirectory[]) => void;
  /** Whether a link in the last name's place is followed like those above it. @default false */
  readonly followsLast?: boolean;
}

/** The last name of a path, while what leads to it is held. */
export interface Reached {
  /** To be used without following a link that is put there meanwhile. */
  readonly place: string;
  /** The directories that lead to it; the root is the first. */
  readonly above: readonly HeldDirectory[];
}

/** The most links that one path may lead through, as in the kernel. */
const mostLinks = 40;

/**
 * Follows a path and runs with what it comes to. Links are read by this process, not by the kernel, and lead on only within
 * the root.
 *
 * @param root a real path
 * @param path relative to it
 * @throws LeadsOut
 */
export function walk<Result>(
  root: string,
  path: string,
  use: (reached: Reached) => Result,
  options: WalkOptions = {},
): Result {
  const above = [holdDirectory(root)];
  const names = split(path);
  let links = 0;
  let cause = path;
  try {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      const isLast = names.length === 0;
      const step = name === ".." ? leave(above, cause) : enter(above, name, { ...options, isLast });
      if (typeof step === "object") return use({ ...step, above });
      if (step === undefined) continue;
      links += 1;
      if (links > mostLinks) throw Object.assign(new Error(`ELOOP: too many links, ${path}`), { code: "ELOOP" });
      cause = name;
      if (isAbsolute(step)) release(above, 1);
      names.unshift(...split(isAbsolute(step) ? fromRoot(root, step, name) : step));
    }
    throw new Error("it is a directory");
  } finally {
    release(above, 0);
  }
}

/** Answers the place of the last name, or the text of a link; nothing once it is inside of the directory. */
function enter(
  above: HeldDirectory[],
  name: string,
  { isLast, made, missing, followsLast = false }: WalkOptions & { readonly isLast: boolean },
): { readonly place: string } | string | undefined {
  const [here] = above.slice(-1);
  if (here === undefined) throw new Error("it is nowhere");
  const place = here.at(name);
  if (isLast) return (followsLast ? linkAt(place) : null) ?? { place };
  const next = holdOrLink(here, name, () => {
    missing?.(above);
    if (made === undefined) return false;
    if (makeDirectory(place)) made(place);
    return true;
  });
  if (typeof next === "string") return next;
  above.push(next);
  return undefined;
}

/** @param make asked where nothing is there; answers whether there is now */
function holdOrLink(here: HeldDirectory, name: string, make: () => boolean): HeldDirectory | string {
  try {
    return holdEntry(here, name);
  } catch (error) {
    if (isMissing(error) && make()) return holdOrLink(here, name, () => false);
    const link = linkAt(here.at(name));
    if (link === null) throw error;
    return link;
  }
}

/** Whether an error says that there is no such file. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function leave(above: HeldDirectory[], cause: string): undefined {
  if (above.length === 1) throw new LeadsOut(cause);
  release(above, above.length - 1);
}

/** Lets go of the lowest, down to so many that stay. */
function release(above: HeldDirectory[], kept: number): void {
  for (const directory of above.splice(kept)) directory.close();
}

function fromRoot(root: string, link: string, name: string): string {
  const inside = relative(root, link);
  if (isAbsolute(inside) || inside === ".." || inside.startsWith(`..${sep}`)) throw new LeadsOut(name);
  return inside;
}

/** What a link says; `null` for what is none. */
export function linkAt(place: string): string | null {
  try {
    return readlinkSync(place);
  } catch {
    return null;
  }
}

/** Answers whether it was missing. Not by `recursive`: Node tries for ever where a file system, such as procfs, says of a new name that it does not exist. */
function makeDirectory(directory: string): boolean {
  try {
    mkdirSync(directory);
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    return false;
  }
}

function split(path: string): string[] {
  return path.split(sep === "/" ? "/" : /[\\/]/).filter((part) => part !== "" && part !== ".");
}

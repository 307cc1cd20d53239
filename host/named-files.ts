/**
 * Files that a person names, read and written for them. Where commands work, a command may have put a link in the place of
 * what is named: there a link leads on only within the place that it lies in.
 */

import { constants, openSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { LeadsOut, linkAt, walk } from "./directory-walk.ts";
import { type HeldFile, holdFile } from "./held-directory.ts";
import { openForWriting } from "./workspace-files.ts";

/** Directories in which commands work, and may have worked, by their real paths. The root of the system is none: no sandbox takes it. */
export function placesOfCommands(directories: readonly string[]): readonly string[] {
  const real = directories.flatMap((directory) => realPathOf(directory) ?? []);
  return [...new Set(real)].filter((directory) => directory !== parse(directory).root);
}

/**
 * Holds what a person names to be read.
 *
 * @throws Error where it is missing, or a link leads it out of one of the places.
 */
export function holdNamed(path: string, places: readonly string[]): HeldFile {
  const entered = placeFor(path, places);
  if (entered === null) return { path, stats: statSync(path), close: () => {} };
  return within(entered, (place) => {
    const file = holdFile(place);
    if (!file.stats.isSymbolicLink()) return file;
    file.close();
    throw new Error("it is a symbolic link");
  });
}

/**
 * Opens what a person names to be written, emptied; it is made where it is missing.
 *
 * @throws Error where a link leads it out of one of the places, and for what is not a regular file there.
 */
export function openNamed(path: string, places: readonly string[]): number {
  const entered = placeFor(path, places);
  if (entered === null) return openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o666);
  return within(entered, (place) => openForWriting(place, { mode: 0o666, isShared: true }));
}

/** The innermost place that a path comes into, and the rest of the path. */
interface Entered {
  readonly root: string;
  readonly rest: string;
}

function within<Result>({ root, rest }: Entered, use: (place: string) => Result): Result {
  try {
    return walk(root, rest, ({ place }) => use(place), { followsLast: true });
  } catch (error) {
    if (!(error instanceof LeadsOut)) throw error;
    throw new Error(`a link leads it out of ${root}, where commands work: name the real path`, { cause: error });
  }
}

/** The most links that one path may lead through, as in the kernel. */
const mostLinks = 40;

/** Follows a path by its names as far as it takes to tell which place it comes into; `null`: it comes into none. */
function placeFor(path: string, places: readonly string[]): Entered | null {
  const full = resolve(path);
  const top = parse(full).root;
  const names = split(full.slice(top.length));
  let here = top;
  let links = 0;
  let entered: Entered | null = null;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    // What leads out again is refused when the rest is followed. What is open has a name no more.
    if ((entered !== null && !isBelow(here, entered.root)) || /^\/proc\/[^/]+\/fd$/.test(here)) return entered;
    if (places.includes(here)) entered = { root: here, rest: join(name, ...names) };
    const next = join(here, name);
    const link = name === ".." ? null : linkAt(next);
    if (link !== null) links += 1;
    if (link === null || links > mostLinks) here = name === ".." ? dirname(here) : next;
    else if (!isAbsolute(link)) names.unshift(...split(link));
    else {
      here = entered !== null && isBelow(link, entered.root) ? entered.root : parse(link).root;
      names.unshift(...split(relative(here, link)));
    }
  }
  return entered;
}

function isBelow(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return !isAbsolute(way) && way !== ".." && !way.startsWith(`..${sep}`);
}

function split(path: string): string[] {
  return path.split(sep === "/" ? "/" : /[\\/]/).filter((part) => part !== "" && part !== ".");
}

function realPathOf(directory: string): string | null {
  try {
    return realpathSync(directory);
  } catch {
    return null;
  }
}

/** Follows a guest's path from a directory that it was given, and never out of it, whoever changes what is inside meanwhile. */

import { linkAt } from "../../../../host/directory-walk.ts";
import { canHold, type HeldDirectory, holdEntry, holdPlace } from "../../../../host/held-directory.ts";

/** What a path has come to. */
export interface Reached {
  readonly directory: HeldDirectory;
  /** An entry of the directory; `null` where the path is of the directory itself. */
  readonly name: string | null;
  /** By which the entry is used, without following a link that is put there meanwhile. */
  readonly place: string;
  /** Whether the path ended as only a directory's may. */
  readonly endsAsDirectory: boolean;
}

export interface FollowOptions {
  readonly path: string;
  /** Whether a link in the last name's place is followed, like those above it. */
  readonly followsLast: boolean;
}

/** As in the kernel. */
const mostLinks = 40;

/** @throws string the error's code of `wasi:filesystem`, or an error of the machine */
export function follow<Result>(
  base: HeldDirectory,
  { path, followsLast }: FollowOptions,
  use: (reached: Reached) => Result,
): Result {
  if (path === "") throw "no-entry";
  if (path.includes("\0")) throw "invalid";
  if (isAbsolute(path)) throw "not-permitted";
  const endsAsDirectory = path.endsWith("/");
  const names = split(path);
  const entered: HeldDirectory[] = [];
  let links = 0;
  try {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      const here = entered.at(-1) ?? base;
      if (name === "..") {
        leave(entered);
        continue;
      }
      const isLast = names.length === 0;
      const step = isLast ? lastStep(here, name, followsLast || endsAsDirectory) : enter(here, name);
      if (step === null) return use({ directory: here, name, place: here.at(name), endsAsDirectory });
      if (typeof step !== "string") {
        entered.push(step);
        continue;
      }
      links += 1;
      if (links > mostLinks) throw "loop";
      if (isAbsolute(step)) throw "not-permitted";
      names.unshift(...split(step));
    }
    const directory = entered.at(-1) ?? base;
    return use({ directory, name: null, place: directory.path, endsAsDirectory: true });
  } finally {
    for (const directory of entered) directory.close();
  }
}

/** The same directory, to be let go of by itself. */
export function heldAgain(directory: HeldDirectory): HeldDirectory {
  return holdPlace(canHold ? `${directory.path}/.` : directory.path);
}

function lastStep(here: HeldDirectory, name: string, follows: boolean): string | null {
  return follows ? linkAt(here.at(name)) : null;
}

/** Answers the text of a link, where one stands there. */
function enter(here: HeldDirectory, name: string): HeldDirectory | string {
  try {
    return holdEntry(here, name);
  } catch (error) {
    const link = linkAt(here.at(name));
    if (link === null) throw error;
    return link;
  }
}

function leave(entered: HeldDirectory[]): void {
  const left = entered.pop();
  if (left === undefined) throw "not-permitted";
  left.close();
}

/** A guest's separator is the slash. What else a machine takes for one, or for a drive, is not to be in a name. */
const isAbsolute = (path: string): boolean =>
  path.startsWith("/") || (process.platform === "win32" && /[\\:]/.test(path));

function split(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

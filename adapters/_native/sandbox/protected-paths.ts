/** Names in the working directory that a command may neither change nor make: something has to be there to be kept as it is. */

import { closeSync, constants, lstatSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type HeldDirectory, holdDirectory, holdEntry } from "../../../host/held-directory.ts";
import { RuntimeError } from "../../../src/errors.ts";
import { gitDirectories } from "./git-file.ts";
import type { Protection } from "./lower-sandbox.ts";
import {
  dropRecord,
  nodeAt,
  nodesInUse,
  type Placeholder,
  type RecordPlace,
  withRecords,
  writeRecord,
} from "./placeholder-records.ts";

/** What is kept in the place of the names, and what was put there where they did not exist. */
export interface Placeholders extends Protection {
  /** Takes them away again, as far as nobody has put anything into them and no other execution relies on them. */
  remove(): void;
}

/** By whom, and against what, names are kept. */
export interface PlacingTerms extends RecordPlace {
  /** Whether the command could write to a real path of the host. @default nothing */
  readonly isWritable?: (path: string) => boolean;
}

/**
 * Puts an empty file, or for a name that ends in `/` an empty directory, wherever a protected name is missing.
 *
 * @param names relative to the working directory, without `.` and `..`
 * @throws RuntimeError `policy_unenforceable` where a link stands on the way: what it leads to would be kept, not the name.
 */
export function placeMissing(workingDir: string, names: readonly string[], terms: PlacingTerms): Placeholders {
  if (names.length === 0) return { names, elsewhere: [], pins: [], remove: () => {} };
  const placed: Placeholder[] = [];
  let protection: Protection = { names, elsewhere: [], pins: [] };
  withRecords(terms.ownDirectory, () => {
    try {
      const others = nodesInUse(terms.ownDirectory);
      protection = placeAll(workingDir, names, { placed, others, isWritable: terms.isWritable ?? (() => false) });
      writeRecord(terms, placed);
    } catch (error) {
      dropRecord(terms, placed);
      throw error;
    }
  });
  return {
    ...protection,
    remove: () => {
      try {
        withRecords(terms.ownDirectory, () => dropRecord(terms, placed.splice(0)));
      } catch {
        // What others rely on cannot be told: better an empty file too many than one that a sandbox lacks.
      }
    },
  };
}

interface Placing {
  /** Gets what this execution relies on. */
  readonly placed: Placeholder[];
  /** What others do. */
  readonly others: ReadonlySet<string>;
  readonly isWritable: (path: string) => boolean;
}

function placeAll(workingDir: string, names: readonly string[], placing: Placing): Protection {
  const kept = new Set<string>();
  const elsewhere: string[] = [];
  const pins: string[] = [];
  for (const name of names) {
    const found = placeOne(workingDir, name, placing);
    if (found.as === "named") kept.add(name);
    if (found.as === "closed") pins.push(found.directory);
    if (found.as !== "git") continue;
    kept.add(found.file);
    for (const root of found.directories.filter((directory) => placing.isWritable(join(directory, found.rest)))) {
      const there = placeOne(root, found.rest, placing);
      if (there.as === "named") elsewhere.push(join(root, found.rest).replace(/\/$/, ""));
      if (there.as === "closed") pins.push(there.directory);
    }
  }
  return { names: [...kept], elsewhere, pins };
}

/** What came of a name. */
type Found =
  | { readonly as: "named" }
  /** Only those who own this directory, or more than this user may, could make it there. */
  | { readonly as: "closed"; readonly directory: string }
  /** A `.git` that is a file leads there, with the rest of the name. */
  | { readonly as: "git"; readonly file: string; readonly directories: readonly string[]; readonly rest: string };

function placeOne(root: string, name: string, placing: Placing): Found {
  const parts = name.split("/").filter((part) => part !== "");
  let path = root;
  let directory = holdDirectory(root);
  try {
    for (const [index, part] of parts.entries()) {
      const above = directory;
      const place = above.at(part);
      const isLast = index === parts.length - 1;
      const here = path;
      path = join(here, part);
      const kind = { isLast, isDirectory: !isLast || name.endsWith("/") };
      const stands = placePart({ path, place, above: above.path }, kind, placing);
      if (stands === "nowhere") return { as: "closed", directory: here };
      if (isLast) break;
      if (stands === "as a file") {
        const directories = part === ".git" ? gitDirectories(place, here) : null;
        if (directories === null) throw unprotected(path, "is no directory");
        const [file, rest] = [parts.slice(0, index + 1).join("/"), parts.slice(index + 1).join("/")];
        return { as: "git", file, directories, rest: name.endsWith("/") ? `${rest}/` : rest };
      }
      directory = enter(above, part, path);
      above.close();
    }
    return { as: "named" };
  } finally {
    directory.close();
  }
}

interface Part {
  readonly path: string;
  readonly place: string;
  /** By which the directory is reached that it is in. */
  readonly above: string;
}

/** What was looked at is used by its place in a directory that is held: a command may swap what leads there. */
function placePart(
  { path, place, above }: Part,
  { isLast, isDirectory }: { readonly isLast: boolean; readonly isDirectory: boolean },
  { placed, others }: Placing,
): "as asked" | "as a file" | "nowhere" {
  try {
    const kind = kindOf(place);
    if (kind === "link") throw unprotected(path, "is a symbolic link");
    if (kind === "other" && !isLast) return "as a file";
    if (kind === "missing") makeEmpty(place, isDirectory);
    const node = nodeAt(place);
    // Another execution's placeholder goes with the last of those that rely on it, which may be this one.
    if (node !== null && (kind === "missing" || others.has(node))) placed.push({ path, node });
    return "as asked";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    // The command is this user without privileges: what is closed to the one is closed to the other. Owners open what is theirs.
    if (code === "EROFS" || (code === "EACCES" && statSync(above).uid !== process.geteuid?.())) return "nowhere";
    if (code !== "EACCES" && code !== "EPERM") throw error;
    const why = `nothing can be put at ${path} (${code}), which a command could all the same where it may change the mode`;
    throw refusal(`${why}: chmod u+wx ${dirname(path)}, or leave the name out`);
  }
}

function enter(above: HeldDirectory, part: string, path: string): HeldDirectory {
  try {
    return holdEntry(above, part);
  } catch {
    throw unprotected(path, "was changed meanwhile");
  }
}

function makeEmpty(place: string, isDirectory: boolean): void {
  if (isDirectory) mkdirSync(place);
  else closeSync(openSync(place, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o644));
}

function kindOf(place: string): "link" | "directory" | "other" | "missing" {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined) return "missing";
  if (stats.isSymbolicLink()) return "link";
  return stats.isDirectory() ? "directory" : "other";
}

function unprotected(path: string, what: string): RuntimeError {
  return refusal(`${path} ${what}. Take it away, or leave the name out`);
}

function refusal(why: string): RuntimeError {
  const message = `A name of security.sandbox.protected_paths cannot be kept: ${why}`;
  return new RuntimeError("policy_unenforceable", message, { backend: "native" });
}

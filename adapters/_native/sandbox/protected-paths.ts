/** Names in the working directory that a command may neither change nor make: something has to be there to be kept as it is. */

import { closeSync, constants, lstatSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { type HeldDirectory, holdDirectory, holdEntry } from "../../../host/held-directory.ts";
import { RuntimeError } from "../../../src/errors.ts";
import {
  dropRecord,
  nodeAt,
  nodesInUse,
  type Placeholder,
  type RecordPlace,
  withRecords,
  writeRecord,
} from "./placeholder-records.ts";

/** What was put in the place of names that did not exist. */
export interface Placeholders {
  /** Takes them away again, as far as nobody has put anything into them and no other execution relies on them. */
  remove(): void;
}

/**
 * Puts an empty file, or for a name that ends in `/` an empty directory, wherever a protected name is missing.
 *
 * @param names relative to the working directory, without `.` and `..`
 * @throws RuntimeError `policy_unenforceable` where a link stands on the way: what it leads to would be kept, not the name.
 */
export function placeMissing(workingDir: string, names: readonly string[], record: RecordPlace): Placeholders {
  if (names.length === 0) return { remove: () => {} };
  const placed: Placeholder[] = [];
  withRecords(record.ownDirectory, () => {
    try {
      const others = nodesInUse(record.ownDirectory);
      for (const name of names) placeOne(workingDir, name, { placed, others });
      writeRecord(record, placed);
    } catch (error) {
      dropRecord(record, placed);
      throw error;
    }
  });
  return {
    remove: () => {
      try {
        withRecords(record.ownDirectory, () => dropRecord(record, placed.splice(0)));
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
}

function placeOne(workingDir: string, name: string, placing: Placing): void {
  const parts = name.split("/").filter((part) => part !== "");
  let path = workingDir;
  let directory = holdDirectory(workingDir);
  try {
    for (const [index, part] of parts.entries()) {
      path = join(path, part);
      const isLast = index === parts.length - 1;
      placePart({ path, place: directory.at(part) }, { isLast, isDirectory: !isLast || name.endsWith("/") }, placing);
      if (isLast) return;
      const above = directory;
      directory = enter(above, part, path);
      above.close();
    }
  } finally {
    directory.close();
  }
}

/** What was looked at is used by its place in a directory that is held: a command may swap what leads there. */
function placePart(
  { path, place }: { readonly path: string; readonly place: string },
  { isLast, isDirectory }: { readonly isLast: boolean; readonly isDirectory: boolean },
  { placed, others }: Placing,
): void {
  const kind = kindOf(place);
  if (kind === "link") throw unprotected(path, "is a symbolic link");
  if (kind === "other" && !isLast) throw unprotected(path, "is no directory");
  if (kind === "missing") makeEmpty(place, isDirectory);
  const node = nodeAt(place);
  // Another execution's placeholder goes with the last of those that rely on it, which may be this one.
  if (node !== null && (kind === "missing" || others.has(node))) placed.push({ path, node });
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
  const message = `A name of security.sandbox.protected_paths cannot be kept: ${path} ${what}. Take it away, or leave the name out`;
  return new RuntimeError("policy_unenforceable", message, { backend: "native" });
}

/** Names in the working directory that a command may neither change nor make: something has to be there to be kept as it is. */

import { closeSync, constants, lstatSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { RuntimeError } from "../../../src/errors.ts";
import {
  dropRecord,
  nodeOf,
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

function placeOne(workingDir: string, name: string, { placed, others }: Placing): void {
  const parts = name.split("/").filter((part) => part !== "");
  let path = workingDir;
  for (const [index, part] of parts.entries()) {
    path = join(path, part);
    const kind = kindOf(path);
    const isDirectory = index < parts.length - 1 || name.endsWith("/");
    if (kind === "link") throw unprotected(path, "is a symbolic link");
    if (kind === "other" && index < parts.length - 1) throw unprotected(path, "is no directory");
    if (kind === "missing") makeEmpty(path, isDirectory);
    const node = nodeOf(path);
    // Another execution's placeholder goes with the last of those that rely on it, which may be this one.
    if (node !== null && (kind === "missing" || others.has(node))) placed.push({ path, node });
  }
}

function makeEmpty(path: string, isDirectory: boolean): void {
  if (isDirectory) mkdirSync(path);
  else closeSync(openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o644));
}

function kindOf(path: string): "link" | "directory" | "other" | "missing" {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return "missing";
  if (stats.isSymbolicLink()) return "link";
  return stats.isDirectory() ? "directory" : "other";
}

function unprotected(path: string, what: string): RuntimeError {
  const message = `A name of security.sandbox.protected_paths cannot be kept: ${path} ${what}. Take it away, or leave the name out`;
  return new RuntimeError("policy_unenforceable", message, { backend: "native" });
}

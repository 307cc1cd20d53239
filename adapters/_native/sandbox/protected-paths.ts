/** Names in the working directory that a command may neither change nor make: something has to be there to be kept as it is. */

import { closeSync, constants, lstatSync, mkdirSync, openSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { RuntimeError } from "../../../src/errors.ts";

/** What was put in the place of names that did not exist. */
export interface Placeholders {
  /** Takes them away again, as far as nobody has put anything into them. */
  remove(): void;
}

/**
 * Puts an empty file, or for a name that ends in `/` an empty directory, wherever a protected name is missing.
 *
 * @param names relative to the working directory, without `.` and `..`
 * @throws RuntimeError `policy_unenforceable` where a link stands on the way: what it leads to would be kept, not the name.
 */
export function placeMissing(workingDir: string, names: readonly string[]): Placeholders {
  const undo: (() => void)[] = [];
  const remove = () => {
    for (const step of undo.splice(0).reverse()) attempt(step);
  };
  try {
    for (const name of names) placeOne(workingDir, name, undo);
  } catch (error) {
    remove();
    throw error;
  }
  return { remove };
}

function placeOne(workingDir: string, name: string, undo: (() => void)[]): void {
  const parts = name.split("/").filter((part) => part !== "");
  let path = workingDir;
  for (const [index, part] of parts.entries()) {
    path = join(path, part);
    const kind = kindOf(path);
    const isDirectory = index < parts.length - 1 || name.endsWith("/");
    if (kind === "link") throw unprotected(path, "is a symbolic link");
    if (kind === "other" && index < parts.length - 1) throw unprotected(path, "is no directory");
    if (kind !== "missing") continue;
    const made = path;
    if (isDirectory) {
      mkdirSync(made);
      undo.push(() => rmdirSync(made));
    } else {
      closeSync(openSync(made, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o644));
      const { ino } = lstatSync(made);
      undo.push(() => {
        const now = lstatSync(made);
        if (now.ino === ino && now.size === 0) unlinkSync(made);
      });
    }
  }
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

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // Somebody has put something into it, or taken it away: it is not ours any more.
  }
}

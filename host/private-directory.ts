/** A working directory of one execution's own, and the end of it, whatever the command left in it. */

import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Leftover } from "../src/types.ts";
import { type HeldDirectory, holdDirectory, holdEntry } from "./held-directory.ts";

/** A directory of nobody else's. */
export function makePrivateDirectory(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "prx-")));
}

/** Answers what of it is still there. */
export function removePrivateDirectory(directory: string): readonly Leftover[] {
  try {
    removeTree(directory);
    return [];
  } catch (error) {
    return [{ kind: "directory", name: directory, reason: String(error) }];
  }
}

function removeTree(directory: string): void {
  const remove = () => rmSync(directory, { recursive: true, force: true, maxRetries: 2 });
  try {
    remove();
  } catch {
    // Some programs protect what they keep from themselves (Go's module cache), and leave it to be opened up.
    openUp(holdDirectory(directory));
    remove();
  }
}

/** Gives the owner of a directory, and of those in it, what it takes to empty them. No link is followed. */
function openUp(directory: HeldDirectory): void {
  try {
    chmodSync(directory.path, 0o700);
    for (const entry of readdirSync(directory.path, { withFileTypes: true })) {
      if (entry.isDirectory()) openUp(holdEntry(directory, entry.name));
    }
  } finally {
    directory.close();
  }
}

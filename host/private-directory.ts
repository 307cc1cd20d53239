/** A working directory of one execution's own, and the end of it, whatever the command left in it. */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Leftover } from "../src/types.ts";

/** A directory of nobody else's. */
export function makePrivateDirectory(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "prx-")));
}

/** Answers what of it is still there. */
export function removePrivateDirectory(directory: string): readonly Leftover[] {
  try {
    rmSync(directory, { recursive: true, force: true, maxRetries: 2 });
    return [];
  } catch (error) {
    return [{ kind: "directory", name: directory, reason: String(error) }];
  }
}

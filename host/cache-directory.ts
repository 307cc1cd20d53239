/** Where this program keeps compiled code between its runs. Who can write there decides what is run. */

import { mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** The directory, made where it is missing; `null` where none is this user's alone. */
export function cacheDirectory(): string | null {
  try {
    const home = homedir();
    if (!isOurs(home)) return null;
    const directory = join(process.env["XDG_CACHE_HOME"] || join(home, ".cache"), "prx-runtime");
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return isOurs(directory) ? directory : null;
  } catch {
    return null;
  }
}

/** Owned by this user, and written by nobody else: not so for root under `sudo`, with the home of another. */
function isOurs(path: string): boolean {
  const { uid, mode } = statSync(path);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

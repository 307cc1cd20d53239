/** Keeps compiled code between runs, where the runtime can (Node): a start then takes half the time. */

import { mkdirSync, statSync } from "node:fs";
import nodeModule from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** Does nothing where there is no directory that is this user's alone: who can write there decides what is run. */
export function keepCompiled(): void {
  if (typeof nodeModule.enableCompileCache !== "function" || "Bun" in globalThis || "Deno" in globalThis) return;
  const directory = cacheDirectory();
  if (directory !== null) nodeModule.enableCompileCache(directory);
}

function cacheDirectory(): string | null {
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

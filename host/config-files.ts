/** Where config.toml is looked for on this machine, under Node, Bun and Deno. */

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import type { ConfigPlaces } from "../src/config/find.ts";

/** This machine's places. Nothing is read before it is asked for. */
export function systemConfigPlaces(): ConfigPlaces {
  return {
    readText: async (path) => readText(path),
    env: process.env,
    workingDir: process.cwd(),
    home: homeDirectory(),
    isWindows: process.platform === "win32",
  };
}

/** Not UTF-8 is an error: a replacement character would be a value that nobody wrote. */
function readText(path: string): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    // A path whose parent is a file does not exist either.
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return null;
    if (error instanceof TypeError) throw new Error("it is not UTF-8", { cause: error });
    throw error;
  }
}

/** A user without an entry in the system's table has no home, and that is no error. */
function homeDirectory(): string | null {
  try {
    return homedir() || null;
  } catch {
    return null;
  }
}

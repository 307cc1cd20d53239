/** Where config.toml is looked for on this machine, under Node, Bun and Deno. */

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { homedir } from "node:os";
import type { ConfigPlaces } from "../src/config/find.ts";
import { holdFile, reasonOf } from "./held-directory.ts";

/** This machine's places. Nothing is read before it is asked for. */
export function systemConfigPlaces(): ConfigPlaces {
  return {
    readText: async (path) => readConfigText(path),
    env: process.env,
    workingDir: process.cwd(),
    home: homeDirectory(),
    isWindows: process.platform === "win32",
  };
}

/**
 * The text of a configuration; `null` where there is none.
 *
 * @throws Error where there is one that cannot be read. Not UTF-8 is such: a replacement character would be a value that nobody wrote.
 */
export function readConfigText(path: string): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readRegular(path));
  } catch (error) {
    // A path whose parent is a file does not exist either.
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return null;
    if (error instanceof TypeError) throw new Error("it is not UTF-8", { cause: error });
    throw new Error(reasonOf(error), { cause: error });
  }
}

/** Far more than anybody writes by hand. */
const mostBytes = 1024 * 1024;

/** Commands may have put a pipe or a device there, which nothing is to wait for, nor be filled by. */
function readRegular(path: string): Uint8Array {
  const fd = openRegular(path);
  try {
    // The size is not asked for: files of procfs have none.
    const buffer = new Uint8Array(mostBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read)
      read = readSync(fd, buffer, length, buffer.length - length, null);
    if (length > mostBytes) throw new Error("it is larger than 1 MiB");
    return buffer.subarray(0, length);
  } finally {
    closeSync(fd);
  }
}

function openRegular(path: string): number {
  const held = holdFile(path, { followsLinks: true });
  try {
    if (held.stats.isDirectory()) throw new Error("it is a directory");
    if (!held.stats.isFile()) throw new Error("it is not a regular file");
    const fd = openSync(held.path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    // Where nothing can be held, something else may stand there by now.
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
    throw new Error("it is not a regular file");
  } finally {
    held.close();
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

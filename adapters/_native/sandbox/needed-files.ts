/** What the kernel opens besides a program when it executes it: interpreters of scripts, and the loader (execve(2), elf(5)). */

import { closeSync, constants, openSync, readSync } from "node:fs";
import { RuntimeError } from "../../../src/errors.ts";
import { interpreterIn, mayExecute, ownSight, readHead, type Sight } from "../resolve-command.ts";

/** So many interpreters the kernel follows (`bprm` of fs/exec.c). */
const mostInterpreters = 5;

/**
 * As the files name them: what is relative starts at the working directory. Empty for what cannot be read.
 *
 * @param sight by which no file is opened that the command does not see
 */
export function neededFiles(file: string, workingDir: string, sight: Sight = ownSight): readonly string[] {
  const needed: string[] = [];
  let last = file;
  for (let found = 0; found < mostInterpreters; found++) {
    const head = opened(last, sight, readHead);
    const interpreter = head === null ? null : interpreterIn(head);
    if (interpreter === null) break;
    needed.push(interpreter);
    // Put together as it is: what `..` leads to depends on links.
    last = interpreter.startsWith("/") ? interpreter : `${workingDir}/${interpreter}`;
  }
  const loader = opened(last, sight, loaderOf);
  return loader === null ? needed : [...needed, loader];
}

/**
 * Where a program of the host's stands between, its own failure to become the command would look like the command's: what that
 * takes is looked at before.
 *
 * @throws RuntimeError `not_executable` for a file that needs another which is not seen, or may not be executed.
 */
export function refuseUnmet(file: string, workingDir: string, sight: Sight): void {
  for (const needed of neededFiles(file, workingDir, sight)) {
    const path = needed.startsWith("/") ? needed : `${workingDir}/${needed}`;
    const seen = sight(path);
    if (seen === null || seen instanceof Error) throw unseen(file);
    const isRunnable = mayExecute(seen.path, seen.stats);
    seen.close();
    if (!isRunnable) throw notExecutable(`${file}: Permission denied`);
  }
}

/** Of a program in a sandbox. */
export function unseen(file: string): RuntimeError {
  return notExecutable(
    `${file}, or the interpreter or loader that it names, is not seen in the sandbox: add its directory to security.sandbox.readonly_paths`,
  );
}

export function notExecutable(why: string): RuntimeError {
  return new RuntimeError("not_executable", `Command cannot be executed: ${why}`, { backend: "native" });
}

/** `null` for what is no file, or not seen. */
function opened<Result>(file: string, sight: Sight, use: (path: string) => Result): Result | null {
  const seen = sight(file);
  if (seen === null || seen instanceof Error) return null;
  try {
    return seen.stats.isFile() ? use(seen.path) : null;
  } finally {
    seen.close();
  }
}

/** Where the parts of a header are, for 32 and 64 bits. */
const layouts = {
  1: { table: 28, entrySize: 32, entries: 44, offset: 4, size: 16 },
  2: { table: 32, entrySize: 56, entries: 56, offset: 8, size: 32 },
} as const;
const interpreterEntry = 3;
/** The kernel takes no more of either. */
const largestTable = 65_536;
const longestPath = 4096;

/** Of a program with the byte order of x86-64 and aarch64; `null` where it needs none or cannot be read. */
function loaderOf(file: string): string | null {
  let fd: number | null = null;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const head = readAt(fd, 0, 64);
    const isLittle = head.readUInt32BE(0) === 0x7f454c46 && head[5] === 1;
    const layout = head[4] === 1 || head[4] === 2 ? layouts[head[4]] : null;
    if (!isLittle || layout === null) return null;
    const word = (from: Buffer, at: number) =>
      head[4] === 1 ? from.readUInt32LE(at) : Number(from.readBigUInt64LE(at));
    const size = Math.min(layout.entrySize * head.readUInt16LE(layout.entries), largestTable);
    const table = readAt(fd, word(head, layout.table), size);
    for (let at = 0; at < table.length; at += layout.entrySize) {
      if (table.readUInt32LE(at) !== interpreterEntry) continue;
      const length = Math.min(word(table, at + layout.size), longestPath);
      const path = readAt(fd, word(table, at + layout.offset), length).toString("utf8");
      return path.replace(/\0.*$/s, "");
    }
    return null;
  } catch {
    return null;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** @throws RangeError when a read goes beyond it. */
function readAt(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(fd, buffer, 0, length, position));
}

/** Files in and outputs out of a working directory that a hostile command may have filled with links, and may be changing still. */

import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  openSync,
  readSync,
  writeFileSync,
} from "node:fs";
import { messageOf, RuntimeError } from "../src/errors.ts";
import type { CollectedFile, FileOwner, PlannedFile } from "../src/types.ts";
import { LeadsOut, walk } from "./directory-walk.ts";
import { openRegularFile } from "./held-directory.ts";

/** The most of one output that is brought out, in bytes. It is held in memory, whoever wrote it. */
export const maxOutputFileBytes = 64 * 1024 * 1024;

export interface WriteFilesOptions {
  readonly bytes: ReadonlyMap<string, Uint8Array>;
  readonly backend: string;
  /** Whose the files and the directories made for them are to be. @default this process's own user's */
  readonly owner?: FileOwner | undefined;
}

/** @throws RuntimeError `files_failed`, naming the path. */
export function writeFiles(root: string, files: readonly PlannedFile[], options: WriteFilesOptions): void {
  const { bytes, backend, owner } = options;
  const made = (place: string) => owner !== undefined && lchownSync(place, owner.uid, owner.gid);
  for (const { path, executable } of files) {
    try {
      const fd = walk(root, path, ({ place }) => openForWriting(place, executable ? 0o755 : 0o644), { made });
      try {
        // The mode above is only for a file that was not there before.
        if (executable) fchmodSync(fd, 0o755);
        if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid);
        writeFileSync(fd, bytes.get(path) ?? new Uint8Array(0));
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      const reason = messageOf(error);
      throw new RuntimeError("files_failed", `File ${path} could not be put into the working directory: ${reason}`, {
        backend,
        cause: error,
      });
    }
  }
}

/** Opens a regular file, emptied, or makes one. */
export function openForWriting(place: string, mode: number): number {
  try {
    return openRegularFile(place, constants.O_WRONLY | constants.O_TRUNC);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    return openSync(place, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  }
}

/** Reads outputs once nothing of the command is known to run any more. Others may be at work in the same directory. */
export function collectFiles(root: string, paths: readonly string[]): readonly CollectedFile[] {
  return paths.map((path) => {
    try {
      return { path, bytes: readInside(root, path) };
    } catch (error) {
      return { path, missing: reasonOf(error) };
    }
  });
}

function readInside(root: string, path: string): Uint8Array {
  const fd = walk(root, path, ({ place }) => openRegularFile(place, constants.O_RDONLY));
  try {
    const { size } = fstatSync(fd);
    if (size > maxOutputFileBytes) throw new Error(`it has ${size} bytes, the most is ${maxOutputFileBytes}`);
    return readUpTo(fd, size);
  } finally {
    closeSync(fd);
  }
}

/** No more than it had: somebody may be writing to it without end. */
function readUpTo(fd: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let filled = 0;
  for (let read = 1; read > 0 && filled < size; filled += read) read = readSync(fd, bytes, filled, size - filled, null);
  return filled === size ? bytes : bytes.slice(0, filled);
}

function reasonOf(error: unknown): string {
  if (error instanceof LeadsOut) return "it leads out of the working directory";
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no such file";
  if (code === "ELOOP" || code === "EMLINK") return "it is a symbolic link";
  return messageOf(error);
}

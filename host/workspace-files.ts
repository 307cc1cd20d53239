/** Files in and outputs out of a working directory that a hostile command may have filled with links. */

import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { messageOf, RuntimeError } from "../src/errors.ts";
import type { CollectedFile, FileOwner, Leftover, PlannedFile } from "../src/types.ts";

/** The most of one output that is brought out, in bytes. It is held in memory, whoever wrote it. */
export const maxOutputFileBytes = 64 * 1024 * 1024;

/** Not through a link that stands in a file's place: it may lead anywhere; nor waiting for the other end of a pipe that does. */
const unguided = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

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

export interface WriteFilesOptions {
  readonly bytes: ReadonlyMap<string, Uint8Array>;
  readonly backend: string;
  /** Whose the files and the directories made for them are to be. @default this process's own user's */
  readonly owner?: FileOwner | undefined;
}

/** @throws RuntimeError `files_failed`, naming the path. */
export function writeFiles(root: string, files: readonly PlannedFile[], options: WriteFilesOptions): void {
  const { bytes, backend, owner } = options;
  for (const { path, executable } of files) {
    try {
      const parent = makeParents(root, path, owner);
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | unguided;
      const fd = openSync(join(parent, path.slice(path.lastIndexOf("/") + 1)), flags, executable ? 0o755 : 0o644);
      try {
        if (!fstatSync(fd).isFile()) throw new Error("what stands in its place is not a regular file");
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

/** The directories above a file, made where they are missing; each is below the root by its real path. */
function makeParents(root: string, path: string, owner: FileOwner | undefined): string {
  let directory = root;
  for (const part of path.split("/").slice(0, -1)) {
    directory = join(directory, part);
    if (makeDirectory(directory) && owner !== undefined) lchownSync(directory, owner.uid, owner.gid);
    const real = realpathSync(directory);
    if (!isBelow(real, root)) throw new Error(`${part} leads out of the working directory`);
    directory = real;
  }
  return directory;
}

/** Answers whether it was missing. Not by `recursive`: Node tries for ever where a file system, such as procfs, says of a new name that it does not exist. */
function makeDirectory(directory: string): boolean {
  try {
    mkdirSync(directory);
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    return false;
  }
}

/** Reads outputs once nothing of the command runs any more, so that nothing changes between look and read. */
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
  const file = join(realpathSync(dirname(join(root, path))), path.slice(path.lastIndexOf("/") + 1));
  if (!isBelow(file, root)) throw new Error("it leads out of the working directory");
  const fd = openSync(file, constants.O_RDONLY | unguided);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error("it is not a regular file");
    if (stats.size > maxOutputFileBytes)
      throw new Error(`it has ${stats.size} bytes, the most is ${maxOutputFileBytes}`);
    return new Uint8Array(readFileSync(fd));
  } finally {
    closeSync(fd);
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no such file";
  if (code === "ELOOP" || code === "EMLINK") return "it is a symbolic link";
  return messageOf(error);
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

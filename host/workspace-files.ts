/** Files in and outputs out of a working directory that a hostile command may have filled with links, and may be changing still. */

import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
  readSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { RuntimeError } from "../src/errors.ts";
import type { CollectedFile, FileOwner, PlannedFile } from "../src/types.ts";
import { isMissing, LeadsOut, type Reached, walk } from "./directory-walk.ts";
import { type HeldDirectory, nodeOf, OtherNames, openRegularFile, reasonOf } from "./held-directory.ts";

/** The most of one output that is brought out, in bytes. It is held in memory, whoever wrote it. */
export const maxOutputFileBytes = 64 * 1024 * 1024;

export interface WriteFilesOptions {
  readonly bytes: ReadonlyMap<string, Uint8Array>;
  readonly backend: string;
  /** Whose the files and the directories made for them are to be. @default this process's own user's */
  readonly owner?: FileOwner | undefined;
  /** What is not to be changed. @default nothing */
  readonly kept?: KeptPlaces | undefined;
}

/** Places in the working directory that no file may change. */
export interface KeptPlaces {
  /** Told the directories that lead to a place, and what stands there, each as `nodeOf` gives it. */
  readonly holds: (nodes: readonly string[]) => boolean;
  /** The refusal, in a sentence. */
  readonly why: (path: string) => string;
}

/** @throws RuntimeError `files_failed`, or `policy_unenforceable` for a place that is kept, naming the path. */
export function writeFiles(root: string, files: readonly PlannedFile[], options: WriteFilesOptions): void {
  const { kept } = options;
  // All of them before the first is written: what is refused leaves nothing behind.
  if (kept !== undefined) for (const file of files) refuseKept(root, file.path, { ...options, kept });
  for (const file of files) {
    try {
      writeOne(root, file, options);
    } catch (error) {
      if (error instanceof RuntimeError) throw error;
      const message = `File ${file.path} could not be put into the working directory: ${reasonOf(error)}`;
      throw new RuntimeError("files_failed", message, { backend: options.backend, cause: error });
    }
  }
}

function refuseKept(root: string, path: string, options: WriteFilesOptions): void {
  const refuse = refusalOf(path, options);
  try {
    walk(root, path, refuse, { missing: (above) => refuse({ above }) });
  } catch (error) {
    // What cannot be reached yet is told when it is written.
    if (error instanceof RuntimeError) throw error;
  }
}

/** Throws where what leads to a place, or what stands there, is kept. */
function refusalOf(path: string, { kept, backend }: WriteFilesOptions) {
  return ({ above, place }: { readonly above: readonly HeldDirectory[]; readonly place?: string }): void => {
    if (kept === undefined) return;
    const stats = place === undefined ? undefined : lstatSync(place, { bigint: true, throwIfNoEntry: false });
    const nodes = [...above.map(({ node }) => node), ...(stats === undefined ? [] : [nodeOf(stats)])];
    if (kept.holds(nodes)) throw new RuntimeError("policy_unenforceable", kept.why(path), { backend });
  };
}

function writeOne(root: string, { path, executable }: PlannedFile, options: WriteFilesOptions): void {
  const { bytes, owner, kept } = options;
  const made = (place: string) => owner !== undefined && lchownSync(place, owner.uid, owner.gid);
  const refuse = refusalOf(path, options);
  const open = (reached: Reached) => {
    refuse(reached);
    return openForWriting(reached.place, { mode: executable ? 0o755 : 0o644, isShared: kept === undefined });
  };
  const fd = walk(root, path, open, { made, missing: (above) => refuse({ above }) });
  try {
    // The mode above is only for a file that was not there before.
    if (executable) fchmodSync(fd, 0o755);
    if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid);
    writeFileSync(fd, bytes.get(path) ?? new Uint8Array(0));
  } finally {
    closeSync(fd);
  }
}

/** How a file is opened for writing. */
export interface WritingOptions {
  /** Of a file that is made. */
  readonly mode: number;
  /** Whether one that has other names too is written to under all of them; else it is parted from them. */
  readonly isShared: boolean;
}

/** Opens a regular file, emptied, or makes one. */
export function openForWriting(place: string, { mode, isShared }: WritingOptions): number {
  const names = isShared ? Number.POSITIVE_INFINITY : 1;
  try {
    return openRegularFile(place, constants.O_WRONLY | constants.O_TRUNC, names);
  } catch (error) {
    if (error instanceof OtherNames) unlinkSync(place);
    else if (!isMissing(error)) throw error;
    return openSync(place, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  }
}

/** Reads outputs once nothing of the command is known to run any more. Others may be at work in the same directory. */
export function collectFiles(root: string, paths: readonly string[]): readonly CollectedFile[] {
  return paths.map((path) => {
    try {
      return { path, bytes: readInside(root, path) };
    } catch (error) {
      return { path, missing: whyMissing(error) };
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

function whyMissing(error: unknown): string {
  if (error instanceof LeadsOut) return "it leads out of the working directory";
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no such file";
  if (code === "ELOOP" || code === "EMLINK") return "it is a symbolic link";
  return reasonOf(error);
}

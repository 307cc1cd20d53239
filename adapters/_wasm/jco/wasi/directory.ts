/** What can be done with what a directory leads to. */

import {
  type BigIntStats,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  utimesSync,
} from "node:fs";
import { type HeldDirectory, holdEntry } from "../../../../host/held-directory.ts";
import { type NewTimestamp, timeOf } from "./file-status.ts";
import { OpenFile } from "./open-file.ts";
import { type FollowOptions, follow, heldAgain, type Reached } from "./paths.ts";

export interface OpenFlags {
  readonly create?: boolean;
  readonly directory?: boolean;
  readonly exclusive?: boolean;
  readonly truncate?: boolean;
}

export interface DescriptorFlags {
  readonly read?: boolean;
  readonly write?: boolean;
  readonly fileIntegritySync?: boolean;
  readonly dataIntegritySync?: boolean;
  readonly requestedWriteSync?: boolean;
  readonly mutateDirectory?: boolean;
}

export type Opened =
  | { readonly directory: HeldDirectory; readonly file?: never }
  | { readonly file: OpenFile; readonly directory?: never };

/** Every method throws an error of the machine, or the word that `wasi:filesystem` has for one. */
export class Directory {
  readonly held: HeldDirectory;
  /** Whether anything in it, however deep, may be changed by way of it. */
  readonly writable: boolean;

  constructor(held: HeldDirectory, writable: boolean) {
    this.held = held;
    this.writable = writable;
  }

  stats(path: FollowOptions): BigIntStats {
    return follow(this.held, path, statsOf);
  }

  open(path: FollowOptions, open: OpenFlags, flags: DescriptorFlags): Opened {
    const changes = open.create || open.truncate || flags.write || flags.mutateDirectory;
    if (changes && !this.writable) throw "read-only";
    return follow(this.held, path, (reached) => {
      const isHere = reached.name === null || isDirectory(reached.place);
      return isHere ? openDirectory(reached, open, flags) : openFile(reached, open, flags);
    });
  }

  readLink(path: string): string {
    const link = follow(this.held, { path, followsLast: false }, ({ place, name }) => {
      if (name === null) throw "invalid";
      return readlinkSync(place);
    });
    // Where it leads on the host is none of the guest's business.
    if (link.startsWith("/")) throw "not-permitted";
    return link;
  }

  setTimes(path: FollowOptions, access: NewTimestamp, modification: NewTimestamp): void {
    this.#change(path, (reached) => {
      const stats = statsOf(reached);
      const set = reached.name === null ? utimesSync : lutimesSync;
      set(reached.place, timeOf(access, stats.atimeNs), timeOf(modification, stats.mtimeNs));
    });
  }

  create(path: string): void {
    this.#change({ path, followsLast: false }, ({ name, place }) => {
      if (name === null) throw "exist";
      mkdirSync(place);
    });
  }

  remove(path: string): void {
    this.#change({ path, followsLast: false }, (reached) => rmdirSync(entryOf(reached)));
  }

  unlink(path: string): void {
    this.#change({ path, followsLast: false }, (reached) => {
      const place = entryOf(reached);
      // Deno would remove it.
      if (isDirectory(place)) throw "is-directory";
      unlinkSync(place);
    });
  }

  /** Links are followed by whoever comes upon them, outside too, and Node's permissions allow none: no guest makes one. */
  refuseLink(path: string): never {
    this.#change({ path, followsLast: false }, () => {});
    throw "not-permitted";
  }

  link(path: FollowOptions, target: Directory, newPath: string): void {
    this.#change(path, (from) => {
      target.#change({ path: newPath, followsLast: false }, (to) => linkSync(entryOf(from), entryOf(to)));
    });
  }

  rename(path: string, target: Directory, newPath: string): void {
    this.#change({ path, followsLast: false }, (from) => {
      target.#change({ path: newPath, followsLast: false }, (to) => {
        const place = entryOf(from);
        renameSync(place, isDirectory(place) ? entryOf({ ...to, endsAsDirectory: false }) : entryOf(to));
      });
    });
  }

  #change(path: FollowOptions, use: (reached: Reached) => void): void {
    if (!this.writable) throw "read-only";
    follow(this.held, path, use);
  }
}

function openDirectory({ directory, name }: Reached, open: OpenFlags, flags: DescriptorFlags): Opened {
  if (open.create && open.exclusive) throw "exist";
  if (flags.write || open.truncate) throw "is-directory";
  return { directory: name === null ? heldAgain(directory) : holdEntry(directory, name) };
}

function openFile({ place, endsAsDirectory }: Reached, open: OpenFlags, flags: DescriptorFlags): Opened {
  if (open.directory) {
    // What is not there is that, rather than no directory.
    lstatSync(place);
    throw "not-directory";
  }
  if (endsAsDirectory) throw "not-directory";
  return { file: new OpenFile(place, openFlagsOf(open, flags)) };
}

function openFlagsOf(open: OpenFlags, flags: DescriptorFlags): number {
  const access = flags.write ? (flags.read ? constants.O_RDWR : constants.O_WRONLY) : constants.O_RDONLY;
  const wanted = [
    open.create && constants.O_CREAT,
    open.exclusive && constants.O_EXCL,
    open.truncate && constants.O_TRUNC,
    flags.fileIntegritySync && constants.O_SYNC,
    flags.dataIntegritySync && constants.O_DSYNC,
    constants.O_NOFOLLOW,
    constants.O_NOCTTY,
  ];
  return wanted.reduce<number>((sum, flag) => sum | (flag || 0), access);
}

function statsOf({ name, place, directory }: Reached): BigIntStats {
  if (name === null && directory.fd !== null) return fstatSync(directory.fd, { bigint: true });
  return name === null ? statSync(place, { bigint: true }) : lstatSync(place, { bigint: true });
}

function isDirectory(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function entryOf({ name, place, endsAsDirectory }: Reached): string {
  // The directory itself has no name that the guest could change.
  if (name === null) throw "invalid";
  if (endsAsDirectory && !isDirectory(place)) throw "not-directory";
  return place;
}

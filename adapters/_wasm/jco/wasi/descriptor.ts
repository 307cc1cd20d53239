/** A file or directory in a guest's hands. What a directory leads to is below it, and as writable as it is. */

import {
  type BigIntStats,
  constants,
  type Dir,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  opendirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  utimesSync,
} from "node:fs";
import { canHold, type HeldDirectory, holdEntry, holdPlace } from "../../../../host/held-directory.ts";
import { errorCode, told } from "./error-code.ts";
import { hashOf, type NewTimestamp, statusOf, timeOf, typeOf } from "./file-status.ts";
import { OpenFile } from "./open-file.ts";
import { follow, type Reached } from "./paths.ts";
import { InputStream, OutputStream } from "./streams.ts";

interface PathFlags {
  readonly symlinkFollow?: boolean;
}

interface OpenFlags {
  readonly create?: boolean;
  readonly directory?: boolean;
  readonly exclusive?: boolean;
  readonly truncate?: boolean;
}

interface DescriptorFlags {
  readonly read?: boolean;
  readonly write?: boolean;
  readonly fileIntegritySync?: boolean;
  readonly dataIntegritySync?: boolean;
  readonly mutateDirectory?: boolean;
}

type What =
  | { readonly directory: HeldDirectory; readonly file?: never }
  | { readonly file: OpenFile; readonly directory?: never };
type Options = What & { readonly writable: boolean; readonly flags?: DescriptorFlags };

export class Descriptor {
  readonly #directory: HeldDirectory | null;
  readonly #file: OpenFile | null;
  /** Whether anything may be changed by it; what a guest asks for in opening it is another matter. */
  readonly #writable: boolean;
  readonly #flags: DescriptorFlags;

  constructor({ directory, file, writable, flags }: Options) {
    this.#directory = directory ?? null;
    this.#file = file ?? null;
    this.#writable = writable;
    this.#flags = flags ?? { read: true, mutateDirectory: writable };
  }

  [Symbol.dispose](): void {
    this.#file?.release();
    this.#directory?.close();
  }

  // What is done with a file.

  readViaStream(offset: bigint): InputStream {
    return new InputStream(this.#openFile().source(offset));
  }

  writeViaStream(offset: bigint): OutputStream {
    return new OutputStream(this.#writableFile().sink(offset));
  }

  appendViaStream(): OutputStream {
    return new OutputStream(this.#writableFile().sink(null));
  }

  read(length: bigint, offset: bigint): [Uint8Array, boolean] {
    const bytes = told(() => this.#openFile().read(Math.min(Number(length), 1024 * 1024), offset));
    return [bytes, bytes.length === 0];
  }

  write(bytes: Uint8Array, offset: bigint): bigint {
    told(() => this.#writableFile().write(bytes, offset));
    return BigInt(bytes.length);
  }

  setSize(size: bigint): void {
    told(() => ftruncateSync(this.#writableFile().fd, Number(size)));
  }

  advise(): void {
    this.#openFile();
  }

  sync(): void {
    this.#flush(fsyncSync);
  }

  syncData(): void {
    this.#flush(fdatasyncSync);
  }

  // What is done with either.

  getFlags(): DescriptorFlags {
    return this.#flags;
  }

  getType(): string {
    return told(() => typeOf(this.#stats()));
  }

  stat() {
    return told(() => statusOf(this.#stats()));
  }

  metadataHash() {
    return told(() => hashOf(this.#stats()));
  }

  isSameObject(other: Descriptor): boolean {
    return told(() => {
      const [mine, others] = [this.#stats(), other.#stats()];
      return mine.dev === others.dev && mine.ino === others.ino;
    });
  }

  setTimes(access: NewTimestamp, modification: NewTimestamp): void {
    told(() => {
      this.#mayChange();
      const stats = this.#stats();
      const [atime, mtime] = [timeOf(access, stats.atimeNs), timeOf(modification, stats.mtimeNs)];
      const fd = this.#file?.fd;
      // By its path where that leads to nothing but the descriptor: Node's permissions refuse the other way.
      if (fd === undefined) utimesSync(this.#openDirectory().path, atime, mtime);
      else if (canHold) utimesSync(`/proc/self/fd/${fd}`, atime, mtime);
      else futimesSync(fd, atime, mtime);
    });
  }

  // What is done with what a directory leads to.

  readDirectory(): DirectoryEntryStream {
    return told(() => new DirectoryEntryStream(opendirSync(this.#openDirectory().path)));
  }

  openAt({ symlinkFollow = false }: PathFlags, path: string, open: OpenFlags, flags: DescriptorFlags): Descriptor {
    return told(() => {
      const changes = open.create || open.truncate || flags.write || flags.mutateDirectory;
      if (changes && !this.#writable) throw "read-only";
      return this.#follow(path, symlinkFollow, (reached) => this.#open(reached, open, flags));
    });
  }

  statAt({ symlinkFollow = false }: PathFlags, path: string) {
    return told(() => this.#follow(path, symlinkFollow, (reached) => statusOf(statsOf(reached))));
  }

  metadataHashAt({ symlinkFollow = false }: PathFlags, path: string) {
    return told(() => this.#follow(path, symlinkFollow, (reached) => hashOf(statsOf(reached))));
  }

  readlinkAt(path: string): string {
    return told(() => {
      const link = this.#follow(path, false, ({ place, name }) => {
        if (name === null) throw "invalid";
        return readlinkSync(place);
      });
      // Where it leads on the host is none of the guest's business.
      if (link.startsWith("/")) throw "not-permitted";
      return link;
    });
  }

  setTimesAt(
    { symlinkFollow = false }: PathFlags,
    path: string,
    access: NewTimestamp,
    modification: NewTimestamp,
  ): void {
    this.#change(path, symlinkFollow, (reached) => {
      const stats = statsOf(reached);
      const set = reached.name === null ? utimesSync : lutimesSync;
      set(reached.place, timeOf(access, stats.atimeNs), timeOf(modification, stats.mtimeNs));
    });
  }

  createDirectoryAt(path: string): void {
    this.#change(path, false, ({ name, place }) => {
      if (name === null) throw "exist";
      mkdirSync(place);
    });
  }

  removeDirectoryAt(path: string): void {
    this.#change(path, false, (reached) => rmdirSync(entryOf(reached)));
  }

  unlinkFileAt(path: string): void {
    this.#change(path, false, (reached) => unlinkSync(entryOf(reached)));
  }

  /** Links are followed by every program that comes upon them later, inside and outside: no guest makes one, on any runtime. */
  symlinkAt(_target: string, path: string): void {
    this.#change(path, false, () => {
      throw "not-permitted";
    });
  }

  linkAt({ symlinkFollow = false }: PathFlags, path: string, target: Descriptor, newPath: string): void {
    this.#change(path, symlinkFollow, (from) => {
      target.#change(newPath, false, (to) => linkSync(entryOf(from), entryOf(to)));
    });
  }

  renameAt(path: string, target: Descriptor, newPath: string): void {
    this.#change(path, false, (from) => {
      target.#change(newPath, false, (to) => renameSync(entryOf(from), entryOf(to, from)));
    });
  }

  #follow<Result>(path: string, followsLast: boolean, use: (reached: Reached) => Result): Result {
    return follow(this.#openDirectory(), { path, followsLast }, use);
  }

  #change(path: string, followsLast: boolean, use: (reached: Reached) => void): void {
    told(() => {
      this.#mayChange();
      this.#follow(path, followsLast, use);
    });
  }

  #mayChange(): void {
    if (!this.#writable) throw "read-only";
  }

  #open(reached: Reached, open: OpenFlags, flags: DescriptorFlags): Descriptor {
    const found = reached.name === null || isDirectory(reached.place);
    if (found) {
      if (open.create && open.exclusive) throw "exist";
      if (flags.write || open.truncate) throw "is-directory";
      const { directory, name } = reached;
      return new Descriptor({
        directory:
          name === null ? holdPlace(canHold ? `${directory.path}/.` : directory.path) : holdEntry(directory, name),
        writable: this.#writable,
        flags,
      });
    }
    if (open.directory) {
      // What is not there is that, rather than no directory.
      lstatSync(reached.place);
      throw "not-directory";
    }
    if (reached.endsAsDirectory) throw "not-directory";
    const fd = openSync(reached.place, openFlagsOf(open, flags));
    return new Descriptor({ file: new OpenFile(fd), writable: this.#writable, flags });
  }

  #openDirectory(): HeldDirectory {
    if (this.#directory === null) throw "not-directory";
    return this.#directory;
  }

  #openFile(): OpenFile {
    if (this.#file === null) throw "is-directory";
    return this.#file;
  }

  #writableFile(): OpenFile {
    this.#mayChange();
    if (!this.#flags.write) throw "bad-descriptor";
    return this.#openFile();
  }

  #stats(): BigIntStats {
    const fd = this.#file?.fd ?? this.#openDirectory().fd;
    return fd === null ? statSync(this.#openDirectory().path, { bigint: true }) : fstatSync(fd, { bigint: true });
  }

  #flush(flush: (fd: number) => void): void {
    const fd = this.#file?.fd;
    if (fd === undefined) return;
    try {
      flush(fd);
    } catch (error) {
      // Node's permissions refuse it. What was written is with the kernel already.
      const code = errorCode(error);
      if (code !== "not-permitted" && code !== "invalid") throw code;
    }
  }
}

/** The entries of a directory, read one after the other. */
export class DirectoryEntryStream {
  readonly #directory: Dir;

  constructor(directory: Dir) {
    this.#directory = directory;
  }

  readDirectoryEntry(): { name: string; type: string } | undefined {
    return told(() => {
      const entry = this.#directory.readSync();
      return entry === null ? undefined : { name: entry.name, type: typeOf(entry) };
    });
  }

  [Symbol.dispose](): void {
    this.#directory.closeSync();
  }
}

function statsOf({ name, place, directory }: Reached): BigIntStats {
  if (name !== null) return lstatSync(place, { bigint: true });
  return directory.fd === null ? statSync(place, { bigint: true }) : fstatSync(directory.fd, { bigint: true });
}

function isDirectory(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** @param beside may be a directory in this one's place */
function entryOf({ name, place, endsAsDirectory }: Reached, beside?: Reached): string {
  // The directory itself has no name that the guest could change.
  if (name === null) throw "invalid";
  if (endsAsDirectory && !isDirectory(place) && !(beside && isDirectory(beside.place))) throw "not-directory";
  return place;
}

function openFlagsOf(open: OpenFlags, flags: DescriptorFlags): number {
  const access = flags.write ? (flags.read ? constants.O_RDWR : constants.O_WRONLY) : constants.O_RDONLY;
  return (
    access |
    (open.create ? constants.O_CREAT : 0) |
    (open.exclusive ? constants.O_EXCL : 0) |
    (open.truncate ? constants.O_TRUNC : 0) |
    (flags.fileIntegritySync ? (constants.O_SYNC ?? 0) : 0) |
    (flags.dataIntegritySync ? (constants.O_DSYNC ?? 0) : 0) |
    (constants.O_NOFOLLOW ?? 0) |
    (constants.O_NOCTTY ?? 0)
  );
}

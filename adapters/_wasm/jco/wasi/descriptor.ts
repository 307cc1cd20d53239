/** `wasi:filesystem`'s descriptor: a file or directory in a guest's hands. */

import {
  type BigIntStats,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  statSync,
  utimesSync,
} from "node:fs";
import { canHold } from "../../../../host/held-directory.ts";
import { type DescriptorFlags, Directory, type Opened, type OpenFlags } from "./directory.ts";
import { DirectoryEntryStream } from "./directory-entries.ts";
import { errorCode, told } from "./error-code.ts";
import { hashOf, type NewTimestamp, statusOf, timeOf, typeOf } from "./file-status.ts";
import type { OpenFile } from "./open-file.ts";
import type { FollowOptions } from "./paths.ts";
import { InputStream, OutputStream } from "./streams.ts";

interface PathFlags {
  readonly symlinkFollow?: boolean;
}

/** As much as one call may ask to be read. */
const mostBytes = 1024 * 1024;

export class Descriptor {
  readonly #directory: Directory | null;
  readonly #file: OpenFile | null;
  /** Whether anything may be changed by it; what a guest asks for in opening it is another matter. */
  readonly #writable: boolean;
  readonly #flags: DescriptorFlags;
  #close: (() => void) | null;

  constructor({
    directory,
    file,
    writable,
    flags,
  }: Opened & { readonly writable: boolean; readonly flags?: DescriptorFlags }) {
    this.#directory = directory === undefined ? null : new Directory(directory, writable);
    this.#file = file ?? null;
    this.#writable = writable;
    this.#flags = flags ?? { read: true, mutateDirectory: writable };
    this.#close = file === undefined ? () => directory?.close() : file.use();
  }

  [Symbol.dispose](): void {
    this.#close?.();
    this.#close = null;
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
    const bytes = told(() => this.#openFile().read(Math.min(Number(length), mostBytes), offset));
    return [bytes, length > 0n && bytes.length === 0];
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
    const [mine, others] = [this.#stats(), other.#stats()];
    return mine.dev === others.dev && mine.ino === others.ino;
  }

  setTimes(access: NewTimestamp, modification: NewTimestamp): void {
    told(() => {
      if (!this.#writable) throw "read-only";
      const stats = this.#stats();
      const [atime, mtime] = [timeOf(access, stats.atimeNs), timeOf(modification, stats.mtimeNs)];
      const fd = this.#file?.fd;
      if (fd === undefined) utimesSync(this.#openDirectory().held.path, atime, mtime);
      // By a path that leads to nothing but the descriptor: Node's permissions refuse the other way.
      else if (canHold) utimesSync(`/proc/self/fd/${fd}`, atime, mtime);
      else futimesSync(fd, atime, mtime);
    });
  }

  // What is done with what a directory leads to.

  readDirectory(): DirectoryEntryStream {
    return told(() => new DirectoryEntryStream(this.#openDirectory().held));
  }

  openAt(how: PathFlags, path: string, open: OpenFlags, flags: DescriptorFlags): Descriptor {
    const opened = told(() => this.#openDirectory().open(options(how, path), open, flags));
    return new Descriptor({ ...opened, writable: this.#writable, flags });
  }

  statAt(how: PathFlags, path: string) {
    return told(() => statusOf(this.#openDirectory().stats(options(how, path))));
  }

  metadataHashAt(how: PathFlags, path: string) {
    return told(() => hashOf(this.#openDirectory().stats(options(how, path))));
  }

  readlinkAt(path: string): string {
    return told(() => this.#openDirectory().readLink(path));
  }

  setTimesAt(how: PathFlags, path: string, access: NewTimestamp, modification: NewTimestamp): void {
    told(() => this.#openDirectory().setTimes(options(how, path), access, modification));
  }

  createDirectoryAt(path: string): void {
    told(() => this.#openDirectory().create(path));
  }

  removeDirectoryAt(path: string): void {
    told(() => this.#openDirectory().remove(path));
  }

  unlinkFileAt(path: string): void {
    told(() => this.#openDirectory().unlink(path));
  }

  symlinkAt(_target: string, path: string): void {
    told(() => this.#openDirectory().refuseLink(path));
  }

  linkAt(how: PathFlags, path: string, target: Descriptor, newPath: string): void {
    told(() => this.#openDirectory().link(options(how, path), target.#openDirectory(), newPath));
  }

  renameAt(path: string, target: Descriptor, newPath: string): void {
    told(() => this.#openDirectory().rename(path, target.#openDirectory(), newPath));
  }

  #openDirectory(): Directory {
    if (this.#directory === null) throw "not-directory";
    return this.#directory;
  }

  #openFile(): OpenFile {
    if (this.#file === null) throw "is-directory";
    return this.#file;
  }

  #writableFile(): OpenFile {
    if (!this.#writable) throw "read-only";
    if (!this.#flags.write) throw "bad-descriptor";
    return this.#openFile();
  }

  #stats(): BigIntStats {
    if (this.#file !== null) return fstatSync(this.#file.fd, { bigint: true });
    const { fd, path } = this.#openDirectory().held;
    return fd === null ? statSync(path, { bigint: true }) : fstatSync(fd, { bigint: true });
  }

  #flush(flush: (fd: number) => void): void {
    if (this.#file === null) return;
    try {
      flush(this.#file.fd);
    } catch (error) {
      // Node's permissions refuse it. What was written is with the kernel already.
      const code = errorCode(error);
      if (code !== "not-permitted" && code !== "invalid") throw code;
    }
  }
}

function options({ symlinkFollow = false }: PathFlags, path: string): FollowOptions {
  return { path, followsLast: symlinkFollow };
}

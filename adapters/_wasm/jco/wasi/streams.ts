/** `wasi:io/streams` and `wasi:io/error`, over files and pipes that are read and written in place. */

import { errorCode } from "./error-code.ts";
import { always, type Pollable } from "./poll.ts";

/** Why an operation on a stream failed. */
export class IoError {
  /** As of `wasi:filesystem`. */
  readonly code: string;

  constructor(code: string) {
    this.code = code;
  }

  toDebugString(): string {
    return this.code;
  }
}

/** Where bytes come from. */
export interface Source {
  /** At the most so many; `null` at the end, nothing where there is nothing yet and it is not to wait. */
  read(length: number, waits: boolean): Uint8Array | null;
  subscribe(): Pollable;
  close(): void;
}

/** Where bytes go. */
export interface Sink {
  /** All of them, however long that takes. */
  write(bytes: Uint8Array): void;
  close(): void;
}

/** What is moved at a time, at the most. */
const chunk = 64 * 1024;
const room = 1024 * 1024;

/** What glue and guest know as an error: jco hands on what is thrown and is no `Error`. */
function attempt<Result>(use: () => Result): Result {
  try {
    return use();
  } catch (error) {
    const code = errorCode(error);
    throw code === "pipe" ? { tag: "closed" } : { tag: "last-operation-failed", val: new IoError(code) };
  }
}

function sizeOf(length: bigint): number {
  return length > BigInt(chunk) ? chunk : Number(length);
}

export class InputStream {
  readonly #source: Source;

  constructor(source: Source) {
    this.#source = source;
  }

  read(length: bigint): Uint8Array {
    return this.#take(length, false);
  }

  blockingRead(length: bigint): Uint8Array {
    return this.#take(length, true);
  }

  skip(length: bigint): bigint {
    return BigInt(this.read(length).length);
  }

  blockingSkip(length: bigint): bigint {
    return BigInt(this.blockingRead(length).length);
  }

  subscribe(): Pollable {
    return this.#source.subscribe();
  }

  [Symbol.dispose](): void {
    this.#source.close();
  }

  #take(length: bigint, waits: boolean): Uint8Array {
    if (length === 0n) return new Uint8Array();
    const bytes = attempt(() => this.#source.read(sizeOf(length), waits));
    if (bytes === null) throw { tag: "closed" };
    return bytes;
  }
}

/** Takes everything at once and holds nothing back, so that flushing has nothing to do. */
export class OutputStream {
  readonly #sink: Sink;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  checkWrite(): bigint {
    return BigInt(room);
  }

  write(bytes: Uint8Array): void {
    attempt(() => this.#sink.write(bytes));
  }

  blockingWriteAndFlush(bytes: Uint8Array): void {
    this.write(bytes);
  }

  flush(): void {}

  blockingFlush(): void {}

  writeZeroes(length: bigint): void {
    for (let left = length; left > 0n; left -= BigInt(sizeOf(left))) this.write(new Uint8Array(sizeOf(left)));
  }

  blockingWriteZeroesAndFlush(length: bigint): void {
    this.writeZeroes(length);
  }

  splice(source: InputStream, length: bigint): bigint {
    const bytes = source.read(length);
    this.write(bytes);
    return BigInt(bytes.length);
  }

  blockingSplice(source: InputStream, length: bigint): bigint {
    const bytes = source.blockingRead(length);
    this.write(bytes);
    return BigInt(bytes.length);
  }

  subscribe(): Pollable {
    return always();
  }

  [Symbol.dispose](): void {
    this.#sink.close();
  }
}

/** A file that a descriptor and the streams made from it share, and that is closed with the last of them. */

import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { always } from "./poll.ts";
import type { Sink, Source } from "./streams.ts";

export class OpenFile {
  readonly fd: number;
  #users = 0;

  /** @param flags as of open(2) */
  constructor(place: string, flags: number) {
    this.fd = openSync(place, flags);
  }

  /** Counts one more user; answers how that one lets go of the file. */
  use(): () => void {
    this.#users += 1;
    let uses = true;
    return () => {
      if (!uses) return;
      uses = false;
      this.#users -= 1;
      if (this.#users === 0) closeSync(this.fd);
    };
  }

  /** @returns nothing at the end of the file */
  read(length: number, offset: bigint): Uint8Array {
    const buffer = new Uint8Array(length);
    return buffer.subarray(0, readSync(this.fd, buffer, 0, length, Number(offset)));
  }

  /** @param offset `null` for the end, wherever that is by then */
  write(bytes: Uint8Array, offset: bigint | null): void {
    const start = offset === null ? fstatSync(this.fd).size : Number(offset);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.fd, bytes, at, bytes.length - at, start + at);
  }

  source(offset: bigint): Source {
    let position = offset;
    return {
      read: (length) => {
        const bytes = this.read(length, position);
        position += BigInt(bytes.length);
        return bytes.length === 0 ? null : bytes;
      },
      subscribe: always,
      close: this.use(),
    };
  }

  sink(offset: bigint | null): Sink {
    let position = offset;
    return {
      write: (bytes) => {
        this.write(bytes, position);
        if (position !== null) position += BigInt(bytes.length);
      },
      close: this.use(),
    };
  }
}

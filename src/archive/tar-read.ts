/** Reads tar archives as they arrive: ustar, pax and GNU long names. Believes nothing of what stands in them. */

import { type TarEntry, type TarEntryType, tarBlock, tarPadding } from "./tar-entry.ts";

const decoder = new TextDecoder();
/** Of names and records that are held in memory, whoever wrote them. */
const mostMetadata = 1024 * 1024;

/** An entry, and its content while it is the current one: what is not read of it is skipped. */
export interface TarMember {
  readonly entry: TarEntry;
  readonly content: AsyncIterable<Uint8Array>;
}

/** @throws Error where the bytes are no archive, or end in the midst of one. */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarMember> {
  const chunks = source[Symbol.asyncIterator]();
  try {
    yield* readMembers(createTaker(chunks));
  } finally {
    await chunks.return?.();
  }
}

async function* readMembers(bytes: Taker): AsyncGenerator<TarMember> {
  let records: Record<string, string> = {};
  let longName: string | null = null;
  let longLink: string | null = null;
  for (;;) {
    const header = await bytes.take(tarBlock);
    // Whoever takes what is missing for removed must not be told of half an archive.
    if (header === null) throw new Error("The archive breaks off before its end");
    if (header.every((byte) => byte === 0)) return;
    checkSum(header);
    const flag = String.fromCharCode(header[156] ?? 0);
    const size = records["size"] === undefined ? numberAt(header, 124, 12) : Number(records["size"]);
    if (!Number.isSafeInteger(size) || size < 0) throw new Error("The archive has an entry of no possible size");
    if (flag === "x" || flag === "g" || flag === "L" || flag === "K") {
      if (size > mostMetadata) throw new Error("The archive has a name of more than a megabyte");
      const content = (await bytes.take(size)) ?? new Uint8Array(0);
      await bytes.skip(tarPadding(size));
      if (flag === "x") records = { ...records, ...parsePax(content) };
      else if (flag === "L") longName = textOf(content);
      else if (flag === "K") longLink = textOf(content);
      continue;
    }
    const entry = entryOf(header, size, flag);
    const named = {
      ...entry,
      path: records["path"] ?? longName ?? entry.path,
      link: records["linkpath"] ?? longLink ?? entry.link,
      uid: records["uid"] === undefined ? entry.uid : Number(records["uid"]),
      gid: records["gid"] === undefined ? entry.gid : Number(records["gid"]),
      mtime: records["mtime"] === undefined ? entry.mtime : Number(records["mtime"]),
    };
    let left = size;
    yield {
      entry: named,
      content: {
        async *[Symbol.asyncIterator]() {
          while (left > 0) {
            const part = await bytes.some(left);
            left -= part.length;
            yield part;
          }
        },
      },
    };
    await bytes.skip(left + tarPadding(size));
    [records, longName, longLink] = [{}, null, null];
  }
}

interface Taker {
  /** Exactly so many bytes; `null` at the end of the source. */
  take(length: number): Promise<Uint8Array | null>;
  /** At least one byte and at most so many. */
  some(most: number): Promise<Uint8Array>;
  skip(length: number): Promise<void>;
}

function createTaker(chunks: AsyncIterator<Uint8Array>): Taker {
  let rest: Uint8Array = new Uint8Array(0);
  const more = async (): Promise<boolean> => {
    const { done, value } = await chunks.next();
    if (done) return false;
    rest = value;
    return true;
  };
  const some = async (most: number): Promise<Uint8Array> => {
    while (rest.length === 0) if (!(await more())) throw new Error("The archive ends in the midst of an entry");
    const part = rest.subarray(0, most);
    rest = rest.subarray(part.length);
    return part;
  };
  return {
    some,
    async take(length) {
      const whole = new Uint8Array(length);
      for (let filled = 0; filled < length; ) {
        while (rest.length === 0) {
          if (await more()) continue;
          if (filled === 0) return null;
          throw new Error("The archive ends in the midst of an entry");
        }
        const part = await some(length - filled);
        whole.set(part, filled);
        filled += part.length;
      }
      return whole;
    },
    async skip(length) {
      for (let left = length; left > 0; ) left -= (await some(left)).length;
    },
  };
}

function entryOf(header: Uint8Array, size: number, flag: string): TarEntry {
  const types: Readonly<Record<string, TarEntryType>> = {
    ...{ "0": "file", "\0": "file", "7": "file", "1": "hardlink", "2": "symlink", "5": "directory" },
  };
  const type = types[flag] ?? "other";
  const isPosix = textOf(header.subarray(257, 262)) === "ustar";
  const prefix = isPosix && header[263] === 0x30 ? textOf(header.subarray(345, 500)) : "";
  const name = textOf(header.subarray(0, 100));
  return {
    path: prefix === "" ? name : `${prefix}/${name}`,
    type,
    size,
    mode: numberAt(header, 100, 8) & 0o7777,
    uid: numberAt(header, 108, 8),
    gid: numberAt(header, 116, 8),
    mtime: numberAt(header, 136, 12),
    link: textOf(header.subarray(157, 257)),
  };
}

/** Octal digits, or GNU's base 256 where the first bit is set. */
function numberAt(header: Uint8Array, at: number, length: number): number {
  const field = header.subarray(at, at + length);
  if (((field[0] ?? 0) & 0x80) === 0) return Number.parseInt(textOf(field).trim() || "0", 8);
  return field.reduce((value, byte, index) => value * 256 + (index === 0 ? byte & 0x7f : byte), 0);
}

function checkSum(header: Uint8Array): void {
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte), 0);
  if (sum !== numberAt(header, 148, 8)) throw new Error("The bytes are no tar archive");
}

function parsePax(content: Uint8Array): Record<string, string> {
  const records: Record<string, string> = {};
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const length = Number(decoder.decode(content.subarray(at, space)));
    if (space < 0 || !Number.isSafeInteger(length) || length <= 0)
      throw new Error("The archive has a broken pax record");
    const text = decoder.decode(content.subarray(space + 1, at + length - 1));
    const equals = text.indexOf("=");
    if (equals > 0) records[text.slice(0, equals)] = text.slice(equals + 1);
    at += length;
  }
  return records;
}

/** Up to the first NUL. */
function textOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return decoder.decode(end < 0 ? bytes : bytes.subarray(0, end));
}

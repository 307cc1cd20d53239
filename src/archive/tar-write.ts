/** Writes tar archives: POSIX ustar, with pax records for what does not fit its fields. */

import { type TarEntry, type TarEntryType, tarBlock, tarPadding } from "./tar-entry.ts";

const encoder = new TextEncoder();
const typeFlags: Readonly<Record<Exclude<TarEntryType, "other">, string>> = {
  file: "0",
  hardlink: "1",
  symlink: "2",
  directory: "5",
};
/** What the eleven octal digits of a size field hold. */
const largestOctal = 8 ** 11 - 1;
const largestId = 8 ** 7 - 1;

/** What an entry is made of; all but the path has a default. */
export type TarEntryInput = Pick<TarEntry, "path"> &
  Partial<Omit<TarEntry, "type">> & { readonly type?: Exclude<TarEntryType, "other"> };

/** The blocks that come before an entry's content. */
export function tarHeader(input: TarEntryInput): Uint8Array {
  const entry = { type: "file" as const, size: 0, mode: 0o644, uid: 0, gid: 0, mtime: 0, link: "", ...input };
  const records: string[] = [];
  if (encoder.encode(entry.path).length > 100 || !isAscii(entry.path)) records.push(paxRecord("path", entry.path));
  if (encoder.encode(entry.link).length > 100 || !isAscii(entry.link)) records.push(paxRecord("linkpath", entry.link));
  if (entry.size > largestOctal) records.push(paxRecord("size", String(entry.size)));
  if (entry.uid > largestId) records.push(paxRecord("uid", String(entry.uid)));
  if (entry.gid > largestId) records.push(paxRecord("gid", String(entry.gid)));
  if (!Number.isInteger(entry.mtime) || entry.mtime < 0) records.push(paxRecord("mtime", String(entry.mtime)));
  const own = block(entry, typeFlags[entry.type]);
  if (records.length === 0) return own;
  const content = encoder.encode(records.join(""));
  const pax = block({ ...entry, path: "pax", link: "", size: content.length }, "x");
  return concat([pax, content, new Uint8Array(tarPadding(content.length)), own]);
}

/** What follows the last entry. */
export function tarEnd(): Uint8Array {
  return new Uint8Array(2 * tarBlock);
}

/** A whole entry whose content is at hand. */
export function tarFile(input: TarEntryInput, content: Uint8Array): Uint8Array {
  const header = tarHeader({ ...input, size: content.length });
  return concat([header, content, new Uint8Array(tarPadding(content.length))]);
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

type Fields = Required<Omit<TarEntryInput, "type">>;

function block(entry: Fields, flag: string): Uint8Array {
  const bytes = new Uint8Array(tarBlock);
  const put = (text: string, at: number, length: number) => bytes.set(encoder.encode(text).subarray(0, length), at);
  const octal = (value: number, at: number, digits: number) =>
    put(Math.max(0, Math.trunc(value)).toString(8).padStart(digits, "0"), at, digits);
  put(entry.path, 0, 100);
  octal(entry.mode & 0o7777, 100, 7);
  octal(Math.min(entry.uid, largestId), 108, 7);
  octal(Math.min(entry.gid, largestId), 116, 7);
  octal(Math.min(entry.size, largestOctal), 124, 11);
  octal(entry.mtime, 136, 11);
  put(flag, 156, 1);
  put(entry.link, 157, 100);
  put("ustar\u000000", 257, 8);
  put(" ".repeat(8), 148, 8);
  octal(
    bytes.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  bytes[154] = 0;
  return bytes;
}

/** `LENGTH KEY=VALUE\n`, where the length counts itself. */
function paxRecord(key: string, value: string): string {
  const rest = encoder.encode(` ${key}=${value}\n`).length;
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

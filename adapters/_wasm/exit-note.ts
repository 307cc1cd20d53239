/**
 * Exit codes that an engine's program loses, brought out on the guest's stderr.
 *
 * The wasmtime program takes no exit code above 125 from a preview 1 module, and says of its own failures 1, as a guest may. So
 * `proc_exit` of the module is another module's, which writes such a code as a note behind everything that the guest has
 * written, and the note is taken off again. A guest that writes one itself has said with which code it exits, as it may.
 */

import { Reader } from "./reader.ts";
import { counted, moduleHeader, name, number, row, section } from "./writer.ts";

/** What the module that takes the place of the engine's exit is called. */
export const exitModuleName = "prx";

const wasi = "wasi_snapshot_preview1";
const importSection = 2;

/** The module with its exit led to {@link exitModule}; the same bytes where it has none, and of a component. */
export function redirectExit(bytes: Uint8Array): Uint8Array {
  if (moduleHeader.some((byte, index) => bytes[index] !== byte)) return bytes;
  const sections = new Reader(bytes, moduleHeader.length);
  while (!sections.isAtEnd) {
    const start = sections.at;
    const id = sections.byte();
    const content = sections.part(sections.number());
    if (id !== importSection) continue;
    const renamed = renameExit(bytes, content);
    if (renamed === null) return bytes;
    return joined(
      bytes.subarray(0, start),
      new Uint8Array([id, ...number(renamed.length)]),
      renamed,
      bytes.subarray(sections.at),
    );
  }
  return bytes;
}

/** The content of the import section with the one name changed, or `null`. */
function renameExit(bytes: Uint8Array, content: Reader): Uint8Array | null {
  const begin = content.at;
  for (let left = content.number(); left > 0; left -= 1) {
    const start = content.at;
    const module = content.name();
    const what = content.name();
    const end = content.at;
    // A function, by the number of its type: what else is imported is not of WASI.
    if (content.byte() !== 0x00) return null;
    content.number();
    if (module !== wasi || what !== "proc_exit") continue;
    const ours = new Uint8Array([...name(exitModuleName), ...name("proc_exit")]);
    return joined(bytes.subarray(begin, start), ours, bytes.subarray(end, content.at), content.rest());
  }
  return null;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** No text has a NUL, so no text is held back as the beginning of a note. */
const noteBegins = "\0prx-exit:";
const noteAt = 32;
const i32 = 0x7f;

/** `(func (param i32))` that writes the note where the engine would lose the code, and exits. */
export function exitModule(): Uint8Array {
  const digits = noteAt + noteBegins.length;
  const noteLength = noteBegins.length + 3;
  const get = [0x20, 0x00];
  const constant = (value: number) => [0x41, ...signed(value)];
  const [and, add, divide, remainder] = [0x71, 0x6a, 0x6e, 0x70];
  const storeByte = [0x3a, 0x00, 0x00];
  const digit = (index: number, divisor: number) => [
    ...constant(digits + index),
    ...[...get, ...constant(divisor), divide, ...constant(10), remainder, ...constant(0x30), add],
    ...storeByte,
  ];
  const call = (index: number) => [0x10, index];
  const body = [
    // As the kernel does with the code of a process: its low eight bits.
    ...[...get, ...constant(255), and, 0x21, 0x00],
    // 1 is what the engine says of itself, and above 125 it takes none.
    ...[...get, ...constant(1), 0x46, ...get, ...constant(125), 0x4b, 0x72, 0x04, 0x40],
    ...[...digit(0, 100), ...digit(1, 10), ...digit(2, 1)],
    ...[...constant(2), ...constant(0), ...constant(1), ...constant(16), ...call(0), 0x1a],
    ...[...constant(1), 0x21, 0x00, 0x0b],
    ...[...get, ...call(1), 0x0b],
  ];
  const littleEndian = (value: number) => [value, 0, 0, 0];
  const data = (at: number, bytes: readonly number[]) => [0x00, ...constant(at), 0x0b, ...counted(bytes)];
  const imported = (what: string, type: number) => [...name(wasi), ...name(what), 0x00, type];
  return new Uint8Array([
    ...moduleHeader,
    ...section(1, [0x60, ...row([i32], [i32], [i32], [i32]), ...row([i32])], [0x60, ...row([i32]), ...row()]),
    ...section(importSection, imported("fd_write", 0), imported("proc_exit", 1)),
    ...section(3, [1]),
    ...section(5, [0x01, 0x01, 0x01]),
    ...section(7, [...name("memory"), 0x02, 0x00], [...name("proc_exit"), 0x00, 0x02]),
    ...section(10, counted([...row(), ...body])),
    ...section(
      11,
      data(0, [...littleEndian(noteAt), ...littleEndian(noteLength)]),
      data(noteAt, [...new TextEncoder().encode(noteBegins)]),
    ),
  ]);
}

/** A small number as signed LEB128. */
function signed(value: number): readonly number[] {
  return value < 64 ? [value] : [(value % 128) + 128, Math.floor(value / 128)];
}

const note = new RegExp(`^${noteBegins}([0-9]{3})$`);
const noteBytes = noteBegins.length + 3;

/** The note at the end of what was written, or the beginning of one that may still come. */
export interface Tail {
  /** How many bytes at the end may belong to a note. */
  readonly held: number;
  readonly code: number | null;
}

/**
 * Looks for a note at the end.
 *
 * @example
 * ```ts
 * tailOf(new TextEncoder().encode("failed\0prx-exit:201")).code; // → 201
 * ```
 */
export function tailOf(bytes: Uint8Array): Tail {
  const start = bytes.lastIndexOf(0, bytes.length - 1);
  const held = bytes.length - start;
  if (start === -1 || held > noteBytes) return { held: 0, code: null };
  const text = String.fromCharCode(...bytes.subarray(start));
  const code = note.exec(text)?.[1];
  if (code !== undefined) return { held, code: Number(code) };
  const isBeginning = text.length <= noteBegins.length ? noteBegins.startsWith(text) : text.startsWith(noteBegins);
  return { held: isBeginning ? held : 0, code: null };
}

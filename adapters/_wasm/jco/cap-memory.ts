/** Gives the memories that core modules define a maximum, which every engine holds them to. */

import { encodeNumber, Reader, sectionsOf } from "./binary.ts";
import { importSection, readImports } from "./core-imports.ts";

const memorySection = 5;

/** What a memory says of its size. */
interface Limits {
  /** `0x01`: has a maximum, `0x02`: is shared, `0x04`: is addressed by 64 bits, `0x08`: has pages of its own size. */
  readonly flags: number;
  readonly minimum: bigint;
  readonly maximum: bigint | null;
  /** As a power of two. */
  readonly pageBits: bigint;
}

const ownPageSize = 0x08;
const hasMaximum = 0x01;
const usualPageBits = 16n;

export interface CapOptions {
  /** Of all memories together. */
  readonly limitBytes: number;
  /** What something else than the module takes of its memory, which then grows by so much more than it says itself. */
  readonly lodgerBytes?: number;
}

/**
 * Caps every memory that the modules define, so that together they stay below the limit. What the minimums leave of it is
 * shared out evenly.
 *
 * @throws Error where the minimums alone are above the limit.
 */
export function capMemories(modules: readonly Uint8Array[], { limitBytes, lodgerBytes = 0 }: CapOptions): Uint8Array[] {
  const memories = modules.flatMap((module) => definedMemories(module));
  const minimums = memories.reduce((sum, memory) => sum + (memory.minimum << memory.pageBits), 0n);
  const [limit, extra] = [BigInt(limitBytes), BigInt(lodgerBytes)];
  const needed = minimums + extra * BigInt(memories.length);
  if (needed > limit) {
    throw new Error(`It asks for ${inMiB(needed)} MiB of memory at its start, and its limit is ${inMiB(limit)} MiB`);
  }
  const share = memories.length === 0 ? 0n : (limit - minimums) / BigInt(memories.length);
  return modules.map((module) => rewrite(module, { share, extra }));
}

/** The memories that a core module does not define itself, as `MODULE.NAME`. */
export function importedMemories(module: Uint8Array): string[] {
  for (const { id, bytes } of sectionsOf(module)) {
    if (id !== importSection) continue;
    return [...readImports(new Reader(bytes))]
      .filter(({ isMemory }) => isMemory)
      .map(({ module, name }) => `${module}.${name}`);
  }
  return [];
}

/** Whether a core module defines one itself. */
export function hasMemory(module: Uint8Array): boolean {
  return definedMemories(module).length > 0;
}

function definedMemories(module: Uint8Array): Limits[] {
  for (const { id, bytes } of sectionsOf(module)) {
    if (id === memorySection) return readMemories(bytes);
  }
  return [];
}

function readMemories(section: Uint8Array): Limits[] {
  const reader = new Reader(section);
  return Array.from({ length: reader.number() }, () => readLimits(reader));
}

function readLimits(reader: Reader): Limits {
  const flags = reader.byte();
  if (flags > 0x0f) throw new Error("It defines a memory of a kind that is not known here");
  const minimum = reader.big();
  const maximum = flags & hasMaximum ? reader.big() : null;
  const pageBits = flags & ownPageSize ? reader.big() : usualPageBits;
  return { flags, minimum, maximum, pageBits };
}

/** In bytes. */
interface Growth {
  /** By which each memory may grow. */
  readonly share: bigint;
  /** By which its own maximum is raised. */
  readonly extra: bigint;
}

function rewrite(module: Uint8Array, growth: Growth): Uint8Array {
  for (const { id, start, bytes } of sectionsOf(module)) {
    if (id !== memorySection) continue;
    const memories = readMemories(bytes);
    const contents = Uint8Array.from([
      ...encodeNumber(BigInt(memories.length)),
      ...memories.flatMap((memory) => encodeLimits(memory, growth)),
    ]);
    const header = Uint8Array.from([memorySection, ...encodeNumber(BigInt(contents.length))]);
    const after = bytes.byteOffset - module.byteOffset + bytes.length;
    return joined([module.subarray(0, start), header, contents, module.subarray(after)]);
  }
  return module;
}

function encodeLimits({ flags, minimum, maximum, pageBits }: Limits, { share, extra }: Growth): number[] {
  let cap = minimum + (share >> pageBits);
  if (maximum !== null && maximum + (extra >> pageBits) < cap) cap = maximum + (extra >> pageBits);
  return [
    flags | hasMaximum,
    ...encodeNumber(minimum),
    ...encodeNumber(cap),
    ...(flags & ownPageSize ? encodeNumber(pageBits) : []),
  ];
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function inMiB(bytes: bigint): string {
  return String(Math.ceil((Number(bytes) / 2 ** 20) * 10) / 10);
}

/** Reads the outer form of WebAssembly binaries: sections, numbers, names. */

/** A part of a module or component. */
export interface Section {
  readonly id: number;
  /** Of the identifier, in the binary. */
  readonly start: number;
  /** Of the contents, without identifier and length. */
  readonly bytes: Uint8Array;
}

/** Reads from the front to the back. */
export class Reader {
  readonly bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    const value = this.bytes[this.at];
    if (value === undefined) throw new Error("The module ends in the middle of a section");
    this.at += 1;
    return value;
  }

  /** Seven bits in a byte, up to 64 of them: the sizes of 64-bit memories do not fit elsewhere. */
  big(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new Error("The module holds a number that is too long");
  }

  number(): number {
    return Number(this.big());
  }

  take(length: number): Uint8Array {
    if (this.at + length > this.bytes.length) throw new Error("The module ends in the middle of a section");
    const taken = this.bytes.subarray(this.at, this.at + length);
    this.at += length;
    return taken;
  }

  name(): string {
    return decoder.decode(this.take(this.number()));
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Whether the binary is a component; a core module otherwise. */
export function isComponent(bytes: Uint8Array): boolean {
  return bytes[4] === 0x0d;
}

/** The sections in their order, of a module and of a component alike. */
export function* sectionsOf(bytes: Uint8Array): Generator<Section> {
  const reader = new Reader(bytes);
  reader.at = 8;
  while (!reader.isAtEnd) {
    const start = reader.at;
    const id = reader.byte();
    yield { id, start, bytes: reader.take(reader.number()) };
  }
}

/** A number as the format writes it. */
export function encodeNumber(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 0x80);
  } while (rest !== 0n);
  return bytes;
}

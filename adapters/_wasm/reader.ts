/** Pure: numbers and names out of a WASM binary, within its bounds. */

/** The binary ends, or says what cannot be, where something was to be read. */
export class Malformed extends Error {}

/** Far above what compilers make: the largest programs have some thousand imports and exports. */
const mostItems = 100_000;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Reads on from where it is; throws {@link Malformed} rather than read past its end. */
export class Reader {
  #at: number;
  readonly #bytes: Uint8Array;
  readonly #end: number;

  constructor(bytes: Uint8Array, start = 0, end: number = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get at(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  byte(): number {
    if (this.isAtEnd) throw new Malformed("it ends too early");
    return this.#bytes[this.#at++] as number;
  }

  /** An unsigned LEB128 number of up to 64 bits: what is beyond 2^53 is only told to be large. */
  number(): number {
    let value = 0;
    for (let factor = 1, count = 0; count < 10; factor *= 128, count += 1) {
      const next = this.byte();
      value += (next & 0x7f) * factor;
      if ((next & 0x80) === 0) return value;
    }
    throw new Malformed("a number in it is longer than a number can be");
  }

  /** The next `length` bytes as a reader of their own. */
  part(length: number): Reader {
    const start = this.#at;
    if (length > this.#end - start) throw new Malformed("it ends too early");
    this.#at = start + length;
    return new Reader(this.#bytes, start, this.#at);
  }

  /** The rest, not copied. */
  rest(): Uint8Array {
    const rest = this.#bytes.subarray(this.#at, this.#end);
    this.#at = this.#end;
    return rest;
  }

  name(): string {
    const bytes = this.part(this.number()).rest();
    try {
      return decoder.decode(bytes);
    } catch {
      throw new Malformed("a name in it is no UTF-8");
    }
  }

  /** What `read` makes of each of a counted row. */
  each<Item>(read: () => Item): readonly Item[] {
    const count = this.number();
    // What is read of each takes many times the bytes that it has in the binary.
    if (count > mostItems) throw new Malformed(`it has a row of ${count} entries, and ${mostItems} are the most`);
    const items: Item[] = [];
    for (let left = count; left > 0; left -= 1) items.push(read());
    return items;
  }
}

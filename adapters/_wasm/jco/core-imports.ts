/** Reads what a core module imports. */

import type { Reader } from "./binary.ts";

export interface CoreImport {
  readonly module: string;
  readonly name: string;
  readonly isMemory: boolean;
}

export const importSection = 2;

/** @param section the contents of a module's import section */
export function* readImports(section: Reader): Generator<CoreImport> {
  for (let left = section.number(); left > 0; left -= 1) {
    const module = section.name();
    const name = section.name();
    const kind = section.byte();
    const skip = skips[kind];
    if (skip === undefined)
      throw new Error(`It imports ${JSON.stringify(`${module}.${name}`)}, of a kind that is not known here`);
    skip(section);
    yield { module, name, isMemory: kind === 0x02 };
  }
}

const skips: Readonly<Record<number, (reader: Reader) => void>> = {
  // A function.
  0: (reader) => {
    reader.big();
  },
  // A table.
  1: (reader) => {
    skipReferenceType(reader);
    skipLimits(reader);
  },
  // A memory.
  2: skipLimits,
  // A global: its type may be a reference, and then whether it can change.
  3: (reader) => {
    skipReferenceType(reader);
    reader.byte();
  },
  // An exception's tag.
  4: (reader) => {
    reader.byte();
    reader.big();
  },
};

/** A type is one byte, or one of two bytes with the type of what is referred to behind it. */
function skipReferenceType(reader: Reader): void {
  const form = reader.byte();
  if (form === 0x63 || form === 0x64) reader.big();
}

function skipLimits(reader: Reader): void {
  const flags = reader.byte();
  reader.big();
  if (flags & 0x01) reader.big();
  if (flags & 0x08) reader.big();
}

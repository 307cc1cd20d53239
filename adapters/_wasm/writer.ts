/** Pure: numbers, names and sections of a WASM binary, as bytes. */

/** A number as unsigned LEB128. */
export function number(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return [...bytes, rest];
}

/** Bytes, and before them how many there are. */
export function counted(bytes: readonly number[]): readonly number[] {
  return [...number(bytes.length), ...bytes];
}

export function name(text: string): readonly number[] {
  return counted([...new TextEncoder().encode(text)]);
}

/** A row of things, and before it how many there are. */
export function row(...items: readonly (readonly number[])[]): readonly number[] {
  return [...number(items.length), ...items.flat()];
}

export function section(id: number, ...items: readonly (readonly number[])[]): readonly number[] {
  return [id, ...counted(row(...items))];
}

/** The header of a core module. */
export const moduleHeader: readonly number[] = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

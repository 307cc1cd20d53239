/** WebAssembly binaries, put together section by section. */

const header = { module: [1, 0, 0, 0], component: [0x0d, 0, 1, 0] } as const;

/** Sections of less than 128 bytes each. */
export function binary(
  kind: keyof typeof header,
  ...sections: readonly (readonly [number, readonly number[]])[]
): Uint8Array {
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d],
    ...header[kind],
    ...sections.flatMap(([id, contents]) => [id, contents.length, ...contents]),
  ]);
}

export function name(text: string): number[] {
  const bytes = [...new TextEncoder().encode(text)];
  return [bytes.length, ...bytes];
}

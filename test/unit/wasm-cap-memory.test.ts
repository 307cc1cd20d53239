/** A guest's memories are held to the limit, whatever they say of themselves. */

import { describe, expect, test } from "vitest";
import { capMemories, importedMemories } from "../../adapters/_wasm/jco/cap-memory.ts";
import { binary, name } from "./wasm-binaries.ts";

const page = 65_536;
const custom = [0, [...name("note"), 1, 2, 3]] as const;

function memories(...limits: readonly (readonly number[])[]): Uint8Array {
  return binary("module", custom, [5, [limits.length, ...limits.flat()]], custom);
}

/** To how many pages the engine lets a module's memory grow. */
function mostPages(module: Uint8Array): number {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(module)));
  const memory = instance.exports["m"];
  if (!(memory instanceof WebAssembly.Memory)) throw new Error("it exports no memory");
  for (;;) {
    try {
      memory.grow(1);
    } catch {
      return memory.buffer.byteLength / page;
    }
  }
}

const exported = [7, [1, ...name("m"), 2, 0]] as const;

describe("a memory's maximum", () => {
  test("is added where there is none, and what is around it stays", () => {
    expect(capMemories([memories([0, 2])], { limitBytes: 10 * page })).toEqual([memories([1, 2, 10])]);
  });

  test("is lowered to the limit, and a lower one stays", () => {
    expect(capMemories([memories([1, 2, 50])], { limitBytes: 10 * page })).toEqual([memories([1, 2, 10])]);
    expect(capMemories([memories([1, 2, 5])], { limitBytes: 10 * page })).toEqual([memories([1, 2, 5])]);
  });

  test("is cut to whole pages", () => {
    expect(capMemories([memories([0, 0])], { limitBytes: 3 * page - 1 })).toEqual([memories([1, 0, 2])]);
  });

  test("is written in as many bytes as it takes", () => {
    expect(capMemories([memories([0, 1])], { limitBytes: 300 * page })).toEqual([memories([1, 1, 0xac, 0x02])]);
  });

  test("leaves the other properties as they are: shared, of 64 bits, with pages of one byte", () => {
    expect(capMemories([memories([3, 1, 9])], { limitBytes: 4 * page })).toEqual([memories([3, 1, 4])]);
    expect(capMemories([memories([4, 1])], { limitBytes: 4 * page })).toEqual([memories([5, 1, 4])]);
    expect(capMemories([memories([8, 1, 0])], { limitBytes: 100 })).toEqual([memories([9, 1, 100, 0])]);
  });

  test("is raised by what a lodger takes, within the limit", () => {
    expect(capMemories([memories([1, 1, 1])], { limitBytes: 10 * page, lodgerBytes: 2 * page })).toEqual([
      memories([1, 1, 3]),
    ]);
    expect(capMemories([memories([0, 1])], { limitBytes: 10 * page, lodgerBytes: 2 * page })).toEqual([
      memories([1, 1, 10]),
    ]);
    expect(() => capMemories([memories([0, 9])], { limitBytes: 10 * page, lodgerBytes: 2 * page })).toThrow("asks for");
  });

  test("is a share of what the minimums of all modules leave", () => {
    const [one, other] = [memories([0, 1]), memories([0, 3], [1, 0, 1])];
    expect(capMemories([one, other], { limitBytes: 10 * page })).toEqual([
      memories([1, 1, 3]),
      memories([1, 3, 5], [1, 0, 1]),
    ]);
  });

  test("holds in the engine at hand", () => {
    const [capped = new Uint8Array()] = capMemories([binary("module", [5, [1, 0, 1]], exported)], {
      limitBytes: 64 * 2 ** 20,
    });
    expect(mostPages(capped)).toBe(1024);
  });
});

describe("what cannot be capped", () => {
  test("is a minimum above the limit, of one memory or of all together", () => {
    expect(() => capMemories([memories([0, 11])], { limitBytes: 10 * page })).toThrow(
      "0.7 MiB of memory at its start, and its limit is 0.7",
    );
    expect(() => capMemories([memories([0, 6]), memories([0, 6])], { limitBytes: 10 * page })).toThrow(
      "of memory at its start",
    );
    expect(() => capMemories([memories([0, 0x80, 0x80, 0x04])], { limitBytes: 128 * 2 ** 20 })).toThrow(
      "It asks for 4096 MiB",
    );
  });

  test("is a kind of memory that is not known, or a section that ends early", () => {
    expect(() => capMemories([memories([0x10, 1])], { limitBytes: page })).toThrow("of a kind that is not known");
    expect(() => capMemories([memories([0])], { limitBytes: page })).toThrow("ends in the middle");
    expect(() =>
      capMemories([binary("module").slice(0, 8), Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 5, 9])], {
        limitBytes: page,
      }),
    ).toThrow("ends in the middle");
  });
});

test("a module without memories stays as it is", () => {
  const module = binary("module", custom);
  expect(capMemories([module], { limitBytes: 0 })[0]).toBe(module);
});

test("memories that are imported are told by name, behind imports of every other kind", () => {
  const imports = [
    [...name("a"), ...name("function"), 0, 3],
    [...name("a"), ...name("table"), 1, 0x70, 1, 0, 5],
    [...name("a"), ...name("typed table"), 1, 0x63, 0x04, 0, 0],
    [...name("a"), ...name("global"), 3, 0x7f, 1],
    [...name("a"), ...name("tag"), 4, 0, 1],
    [...name("env"), ...name("memory"), 2, 1, 1, 2],
  ];
  expect(importedMemories(binary("module", [2, [imports.length, ...imports.flat()]]))).toEqual(["env.memory"]);
  expect(importedMemories(binary("module", custom))).toEqual([]);
});

/** What is read from the sections of a WASM binary. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Malformed, readBinary } from "../../adapters/_wasm/binary.ts";
import { counted, moduleHeader, number, section } from "../../adapters/_wasm/writer.ts";
import { componentOf, moduleOf } from "../fixtures/wasm-modules.ts";

const page = 64 * 1024;

describe("a module", () => {
  it("is told with its imports, exports, memories and tables", () => {
    const bytes = moduleOf({ imports: [["env", "f"]], exports: ["_start", "other"], memories: [1, 70_000], tables: 3 });
    expect(readBinary(bytes)).toEqual({
      kind: "module",
      imports: [{ module: "env", name: "f" }],
      exports: ["_start", "other"],
      memories: [
        { minimum: page, shared: false, imported: false },
        { minimum: 70_000 * page, shared: false, imported: false },
      ],
      tables: 3,
    });
  });

  it("can import memories and tables, and everything else that there is", () => {
    const names = [1, 0x61, 1, 0x62];
    const imports = [
      [...names, 0x02, 0x03, 0x02, 0x04],
      [...names, 0x01, 0x70, 0x00, 0x01],
      [...names, 0x03, 0x7f, 0x00],
      [...names, 0x04, 0x00, 0x00],
      [...names, 0x03, 0x63, 0x00, 0x01],
    ];
    const binary = readBinary(new Uint8Array([...moduleHeader, ...section(2, ...imports)]));
    expect(binary.memories).toEqual([{ minimum: 2 * page, shared: true, imported: true }]);
    expect([binary.tables, binary.imports.length]).toEqual([1, 5]);
  });

  it("says the size of its own pages", () => {
    const memory = section(5, [0x08, 0x05, 0x00]);
    expect(readBinary(new Uint8Array([...moduleHeader, ...memory])).memories[0]?.minimum).toBe(5);
  });
});

describe("a component", () => {
  it("is told with the memories of all that is in it", () => {
    const inner = moduleOf({ memories: [2], tables: 1 });
    const bytes = componentOf({ imports: ["wasi:cli/stdin@0.2.6"], modules: [inner, inner] });
    const { kind, imports, exports, memories, tables } = readBinary(bytes);
    expect([kind, tables]).toEqual(["component", 2]);
    expect(imports).toEqual([{ module: "", name: "wasi:cli/stdin@0.2.6" }]);
    expect(exports).toEqual(["wasi:cli/run@0.2.6"]);
    expect(memories.map(({ minimum }) => minimum)).toEqual([2 * page, 2 * page]);
  });

  it("is not followed into any depth", () => {
    let bytes = componentOf({});
    for (let depth = 0; depth < 30; depth += 1)
      bytes = new Uint8Array([...componentOf({ modules: [] }).slice(0, 8), 4, ...lebOf(bytes.length), ...bytes]);
    expect(() => readBinary(bytes)).toThrow("nested");
  });
});

function lebOf(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...lebOf(Math.floor(value / 128))];
}

it("a row of more entries than any program has is not read", () => {
  expect(() => readBinary(new Uint8Array([...moduleHeader, 2, ...counted(number(100_001))]))).toThrow("100001 entries");
});

it("a component's memories are as many as there are", () => {
  const memories = counted([...number(99_000), ...new Uint8Array(2 * 99_000)]);
  const inner = new Uint8Array([...moduleHeader, 5, ...memories]);
  expect(readBinary(componentOf({ modules: [inner, inner] })).memories).toHaveLength(198_000);
});

describe("what is no binary", () => {
  it.each([
    ["an empty file", [], "it is empty"],
    ["a text", [...new TextEncoder().encode("#!/bin/sh\n")], "does not begin with"],
    ["the text form", [...new TextEncoder().encode("(module)")], "does not begin with"],
    ["a header that is cut", moduleHeader.slice(0, 6), "cut off in its header"],
    ["a module of another version", [...moduleHeader.slice(0, 4), 2, 0, 0, 0], "version 2"],
    ["a component of another version", [...moduleHeader.slice(0, 4), 12, 0, 1, 0], "version 12"],
    ["an unknown layer", [...moduleHeader.slice(0, 4), 1, 0, 9, 0], "layer 9"],
    ["a section that is longer than the file", [...moduleHeader, 1, 100, 0], "ends too early"],
    ["a number without end", [...moduleHeader, 1, ...Array.from({ length: 11 }, () => 0xff)], "longer than a number"],
    ["a name that is no UTF-8", [...moduleHeader, ...section(7, [1, 0xff, 0, 0])], "no UTF-8"],
    ["an import of an unknown kind", [...moduleHeader, ...section(2, [0, 0, 9])], "unknown kind 9"],
  ])("is refused: %s", (_, bytes, why) => {
    expect(() => readBinary(new Uint8Array(bytes))).toThrow(Malformed);
    expect(() => readBinary(new Uint8Array(bytes))).toThrow(why);
  });

  it("is never read past its end, wherever it is cut", () => {
    const bytes = moduleOf({ imports: [["env", "f"]], memories: [1], tables: 1 });
    for (let length = 0; length < bytes.length; length += 1) {
      try {
        readBinary(bytes.subarray(0, length));
      } catch (error) {
        expect(error).toBeInstanceOf(Malformed);
      }
    }
  });

  it("fails in no other way, whatever it holds", () => {
    fc.assert(
      fc.property(fc.constantFrom(0x00, 0x01), fc.uint8Array({ maxLength: 200 }), (layer, rest) => {
        const version = layer === 0 ? 0x01 : 0x0d;
        try {
          readBinary(new Uint8Array([0x00, 0x61, 0x73, 0x6d, version, 0x00, layer, 0x00, ...rest]));
        } catch (error) {
          expect(error).toBeInstanceOf(Malformed);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

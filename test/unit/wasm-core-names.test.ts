/** No name of a module becomes code of the host. */

import { expect, test } from "vitest";
import { checkCoreNames } from "../../adapters/_wasm/jco/core-names.ts";
import { binary, name } from "./wasm-binaries.ts";

const usual = [
  "[method]output-stream.blocking-write-and-flush",
  "wasi:io/streams@0.2.12",
  "$imports",
  "_ZN3fooE",
  "naïve",
];
const hostile = ["a'b", 'a"b', "a`b", "a\\b", "a\nb", "a\u2028b", "*/+':x,k:f([0/*"];

const exporting = (text: string) => binary("module", [7, [1, ...name(text), 0, 0]]);
const importing = (module: string, text: string) => binary("module", [2, [1, ...name(module), ...name(text), 0, 0]]);

/** Where a name can stand. */
const places: Readonly<Record<string, (text: string) => Uint8Array>> = {
  "a module's export": exporting,
  "a module's import": (text) => importing("a", text),
  "the module of an import": (text) => importing(text, "a"),
  "a module in a component": (text) => binary("component", [1, [...exporting(text)]]),
  "a module in a component in a component": (text) =>
    binary("component", [4, [...binary("component", [1, [...exporting(text)]])]]),
  "an argument of an instance": (text) => binary("component", [2, [1, 0, 0, 1, ...name(text), 0x12, 0]]),
  "an instance made of parts": (text) => binary("component", [2, [2, 1, 0, 1, 1, ...name(text), 0, 0]]),
};

test.each(Object.entries(places))("%s", (_, place) => {
  for (const text of usual) expect(() => checkCoreNames(place(text))).not.toThrow();
  for (const text of hostile) expect(() => checkCoreNames(place(text))).toThrow("are refused");
});

test("what cannot be read is refused", () => {
  expect(() => checkCoreNames(binary("module", [7, [1, 5, 0x61]]))).toThrow();
  expect(() => checkCoreNames(binary("module", [2, [1, ...name("a"), ...name("b"), 9, 0]]))).toThrow("not known");
  expect(() => checkCoreNames(binary("module", [7, [1, 1, 0xff, 0, 0]]))).toThrow();
});

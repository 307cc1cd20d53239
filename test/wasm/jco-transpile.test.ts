/** What becomes files that can be run, and what is refused before anything runs. */

import { parse } from "@bytecodealliance/jco";
import { describe, expect, test } from "vitest";
import { type TranspileOptions, transpile } from "../../adapters/_wasm/jco/transpile.ts";
import { checkWorld } from "../../adapters/_wasm/jco/world.ts";
import { need } from "../fixtures/needed.ts";
import { cannotCompile, probeGuest } from "./guests.ts";

async function made(kind: TranspileOptions["kind"], wat: string) {
  return await transpile(await parse(wat), { kind });
}

const command = '(func (export "_start"))';

/** A component whose core module exports and imports a name. */
const named = (name: string) => {
  const text = JSON.stringify(name).replaceAll('\\"', "\\22");
  return `(component
    (core module $m (func (export ${text})) (func (export "run") (result i32) i32.const 0))
    (core module $n (import "a" ${text} (func)) (func (export "run") (result i32) i32.const 0))
    (core instance $i (instantiate $m))
    (core instance $j (instantiate $n (with "a" (instance $i))))
    (func $run (result (result)) (canon lift (core func $j "run")))
    (component $c (import "f" (func $f (result (result)))) (export "run" (func $f)))
    (instance $run (instantiate $c (with "f" (func $run))))
    (export "wasi:cli/run@0.2.0" (instance $run)))`;
};

describe("files", () => {
  test("have plain names and capped memories, and none holds a module inside of the JavaScript", async () => {
    const { files } = await made("module", `(module (memory (export "memory") 1) ${command})`);
    expect(Object.keys(files)).toEqual(expect.arrayContaining(["guest.mjs", "guest.core.wasm", "manifest.json"]));
    expect(Object.keys(files).every((name) => /^[a-z0-9.]+$/.test(name))).toBe(true);
    expect(JSON.parse(new TextDecoder().decode(files["manifest.json"]))).toMatchObject({
      kind: "module",
      modules: expect.arrayContaining(["guest.core.wasm"]),
    });
    expect(new TextDecoder().decode(files["guest.mjs"])).not.toContain("AGFzbQ");
  });

  test("are the same each time", async () => {
    const wat = `(module (memory (export "memory") 1) ${command})`;
    expect(await made("module", wat)).toEqual(await made("module", wat));
  });

  test("are made of what a compiler makes", async (context) => {
    need(context, cannotCompile("component"));
    const { files } = await transpile(probeGuest("component"), { kind: "component" });
    expect(files["guest.mjs"]?.length).toBeGreaterThan(1000);
  });
});

describe("what is refused", () => {
  test.each([
    ["a memory from elsewhere", "module", `(module (import "env" "m" (memory 1)) ${command})`, '"env.m"'],
    ["a core module that is no command", "module", '(module (memory (export "memory") 1))', "_start"],
    ["a component that is no command", "component", "(component)", "it exports nothing"],
    ["a function that nobody has", "module", `(module (import "env" "f" (func)) ${command})`, "env"],
  ] as const)("%s", async (_, kind, wat, words) => {
    await expect(made(kind, wat)).rejects.toThrow(words);
  });

  test("an interface that nobody has, and a command of another preview", () => {
    const exports = ["run", "wasi:cli/run@0.2.3"];
    expect(() => checkWorld({ imports: ["wasi:cli/exit", "wasi:http/types"], exports })).not.toThrow();
    expect(() => checkWorld({ imports: ["my:own/thing"], exports })).toThrow("It imports my:own/thing");
    expect(() => checkWorld({ imports: [], exports: ["wasi:cli/run@0.3.0"] })).toThrow("It is no command");
    expect(() => checkWorld({ imports: [], exports: ["wasi:http/incoming-handler@0.2.0"] })).toThrow(
      "incoming-handler",
    );
  });

  test("names that would be code: jco writes them between quotes as they are", async () => {
    await expect(made("component", named("plain"))).resolves.toBeDefined();
    await expect(made("component", named("*/+':(globalThis.ran=1),k:(x=>x)([0/*"))).rejects.toThrow("are refused");
  });

  test.each([
    ["nothing", []],
    ["text", [...new TextEncoder().encode("hello, this is no module")]],
    ["the half of a header", [0, 0x61, 0x73, 0x6d, 1]],
    ["a section that ends early", [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 5, 9, 1]],
  ] as const)("%s", async (_, bytes) => {
    for (const kind of ["module", "component"] as const) {
      await expect(transpile(Uint8Array.from(bytes), { kind })).rejects.toThrow();
    }
  });
});

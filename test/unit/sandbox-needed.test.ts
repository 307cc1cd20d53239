/** What a program needs to be executed, read from the file. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { neededFiles } from "../../adapters/_native/sandbox/needed-files.ts";

const place = realpathSync(mkdtempSync(join(tmpdir(), "prx-needed-")));
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** A file of the place, by its path. */
function file(name: string, content: string | Uint8Array): string {
  writeFileSync(join(place, name), content);
  return join(place, name);
}

/** An ELF file whose table of segments has `loader` in it. */
function program(bits: 32 | 64, loader: string | null): Buffer {
  const bytes = Buffer.alloc(512);
  bytes.write("\x7fELF", 0, "latin1");
  bytes.set([bits / 32, 1, 1], 4);
  const [table, entries, offset, size, entry] = bits === 64 ? [32, 56, 8, 32, 56] : [28, 44, 4, 16, 32];
  const put = (value: number, at: number) =>
    bits === 64 ? bytes.writeBigUInt64LE(BigInt(value), at) : bytes.writeUInt32LE(value, at);
  put(64, table);
  bytes.writeUInt16LE(2, entries);
  bytes.writeUInt32LE(1, 64);
  if (loader === null) return bytes;
  bytes.writeUInt32LE(3, 64 + entry);
  put(300, 64 + entry + offset);
  put(loader.length + 1, 64 + entry + size);
  bytes.write(`${loader}\0rest`, 300);
  return bytes;
}

test("the interpreters of a script, as they are named, and their loader", () => {
  mkdirSync(join(place, "work"));
  file("last", program(64, "/own/loader.so"));
  file("second", `#!${join(place, "last")} -x\n`);
  const script = file("script", "#! ../second\n");
  expect(neededFiles(script, join(place, "work"))).toEqual(["../second", join(place, "last"), "/own/loader.so"]);
  expect(neededFiles(file("name", "#!/nowhere/ä b\n"), place)).toEqual(["/nowhere/ä"]);
});

test("no interpreters without end", () => {
  const path = join(place, "loop");
  expect(neededFiles(file("loop", `#!${path}\n`), place)).toEqual(Array.from({ length: 5 }, () => path));
});

test.each([32, 64] as const)("the loader of a program of %d bits", (bits) => {
  expect(neededFiles(file("program", program(bits, "/lib/own.so.2")), place)).toEqual(["/lib/own.so.2"]);
  expect(neededFiles(file("static", program(bits, null)), place)).toEqual([]);
});

test("that of a program of this system", () => {
  if (process.platform !== "linux" || !existsSync("/bin/sh")) return;
  for (const path of neededFiles("/bin/sh", "/")) expect(existsSync(path)).toBe(true);
});

test("nothing of what is none, is not there, or is made to mislead", () => {
  const good = program(64, "/lib/own.so.2");
  const changed = (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(good);
    change(bytes);
    return neededFiles(file("odd", bytes), place);
  };
  expect(neededFiles(join(place, "missing"), place)).toEqual([]);
  expect(neededFiles(place, place)).toEqual([]);
  expect(neededFiles(file("text", "text"), place)).toEqual([]);
  expect(neededFiles(file("short", good.subarray(0, 40)), place)).toEqual([]);
  expect(changed((bytes) => bytes.writeBigUInt64LE(2n ** 63n, 32))).toEqual([]);
  expect(changed((bytes) => bytes.writeUInt16LE(65_535, 56))).toEqual(["/lib/own.so.2"]);
  expect(changed((bytes) => bytes.writeBigUInt64LE(2n ** 62n, 64 + 56 + 32))).toEqual(["/lib/own.so.2"]);
  expect(changed((bytes) => bytes.writeUInt8(2, 5))).toEqual([]);
  expect(readFileSync(join(place, "odd"))[5]).toBe(2);
});

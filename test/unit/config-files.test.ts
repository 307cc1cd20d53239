/** What is read in the place of a configuration: a command may have put anything there. */

import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { systemConfigPlaces } from "../../host/config-files.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, write, makeDirectory } = scratchDirectory();
const read = (path: string) => systemConfigPlaces().readText(path);
const linkTo = (target: string, name: string) => {
  symlinkSync(target, at(name));
  return at(name);
};

test("a file is read, also through a link, and one that is missing is none", async () => {
  const file = write("mine.toml", "[runtime]\n");
  expect(await read(file)).toBe("[runtime]\n");
  expect(await read(linkTo(file, "link"))).toBe("[runtime]\n");
  expect(await read(write("largest", "#".repeat(1024 * 1024)))).toHaveLength(1024 * 1024);
  expect(await read(write("empty", ""))).toBe("");
  for (const missing of [at("none"), `${file}/none`, linkTo("nowhere", "dangling")])
    expect(await read(missing)).toBeNull();
});

test.skipIf(process.platform === "win32")("nothing else is opened, waited for, or taken as a whole", async () => {
  execFileSync("mkfifo", [at("pipe")]);
  for (const path of [at("pipe"), linkTo("pipe", "to-pipe"), "/dev/zero", linkTo("/dev/zero", "to-device")])
    await expect(read(path), path).rejects.toThrow(/^it is not a regular file$/);
  await expect(read(makeDirectory("directory"))).rejects.toThrow(/^it is a directory$/);
  await expect(read(write("large", "#".repeat(1024 * 1024 + 1)))).rejects.toThrow(/^it is larger than 1 MiB$/);
  await expect(read(write("latin1", Uint8Array.of(0x23, 0xe4)))).rejects.toThrow(/^it is not UTF-8$/);
});

/** Tar archives: ours are read by the system's tar, the system's by us, and no byte of either is believed. */

import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { readTar } from "../../src/archive/tar-read.ts";
import { concat, tarEnd, tarFile, tarHeader } from "../../src/archive/tar-write.ts";

const base = mkdtempSync(join(tmpdir(), "prx-tar-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

async function* inPieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function contents(bytes: Uint8Array, size = 1000) {
  const members = [];
  for await (const { entry, content } of readTar(inPieces(bytes, size))) {
    const parts: Uint8Array[] = [];
    for await (const part of content) parts.push(part);
    members.push({ ...entry, text: new TextDecoder().decode(concat(parts)) });
  }
  return members;
}

const long = `${"deep/".repeat(30)}grüße-中.txt`;

describe("archives of ours", () => {
  const archive = concat([
    tarHeader({ path: "/", type: "directory", mode: 0o700, uid: 65534, gid: 65534 }),
    tarFile({ path: long, mode: 0o755, mtime: 1_700_000_000, uid: 5_000_000 }, new TextEncoder().encode("content")),
    tarHeader({ path: "link", type: "symlink", link: `../${long}` }),
    tarFile({ path: "empty" }, new Uint8Array(0)),
    tarEnd(),
  ]);

  test("the system's tar unpacks them", () => {
    const directory = join(base, "unpacked");
    mkdirSync(directory);
    execFileSync("tar", ["-C", directory, "--no-same-owner", "-xf", "-"], {
      input: archive,
      stdio: ["pipe", "pipe", "pipe"],
    });
    expect(readFileSync(join(directory, long), "utf8")).toBe("content");
    expect(statSync(join(directory, long)).mode & 0o777).toBe(0o755);
    expect(readlinkSync(join(directory, "link"))).toBe(`../${long}`);
  });

  test.each([1, 3, 511, 512, 513, 100_000])("we read them however they are cut: %i bytes at a time", async (size) => {
    expect(await contents(archive, size)).toMatchObject([
      { path: "/", type: "directory", mode: 0o700, uid: 65534 },
      { path: long, type: "file", size: 7, text: "content", mode: 0o755, mtime: 1_700_000_000, uid: 5_000_000 },
      { path: "link", type: "symlink", link: `../${long}`, text: "" },
      { path: "empty", type: "file", size: 0, text: "" },
    ]);
  });
});

test.each(["pax", "gnu", "ustar"])("archives of the system's tar in format %s are read", async (format) => {
  const directory = join(base, format);
  mkdirSync(join(directory, "sub"), { recursive: true });
  writeFileSync(join(directory, "sub", "file"), "x".repeat(1500));
  symlinkSync("file", join(directory, "sub", "link"));
  const name = format === "ustar" ? "plain" : `${"n".repeat(150)}`;
  writeFileSync(join(directory, name), "long");
  const archive = execFileSync("tar", ["-C", directory, `--format=${format}`, "-cf", "-", "--sort=name", "."]);
  const members = await contents(archive);
  expect(members.map(({ path }) => path).sort()).toEqual(
    ["./", `./${name}`, "./sub/", "./sub/file", "./sub/link"].sort(),
  );
  expect(members.find(({ path }) => path === "./sub/file")).toMatchObject({ size: 1500, text: "x".repeat(1500) });
  expect(members.find(({ path }) => path === "./sub/link")).toMatchObject({ type: "symlink", link: "file" });
});

test("content that nobody reads is skipped", async () => {
  const archive = concat([
    tarFile({ path: "a" }, new Uint8Array(5000)),
    tarFile({ path: "b" }, new Uint8Array(1)),
    tarEnd(),
  ]);
  const paths: string[] = [];
  for await (const { entry } of readTar(inPieces(archive, 700))) paths.push(entry.path);
  expect(paths).toEqual(["a", "b"]);
});

test("what is no archive, or only half of one, is an error", async () => {
  await expect(contents(new TextEncoder().encode("x".repeat(600)))).rejects.toThrow("no tar archive");
  const half = tarFile({ path: "a" }, new Uint8Array(5000)).subarray(0, 2000);
  await expect(contents(half)).rejects.toThrow("midst of an entry");
  const between = concat([tarFile({ path: "a" }, new Uint8Array(5000)), tarFile({ path: "b" }, new Uint8Array(1))]);
  await expect(contents(between)).rejects.toThrow("breaks off before its end");
});

test("any path and any content comes back as it was", async () => {
  const text = fc
    .string({ unit: "binary", minLength: 1, maxLength: 200 })
    .filter((path) => !path.includes("\0") && path.isWellFormed());
  await fc.assert(
    fc.asyncProperty(text, fc.uint8Array({ maxLength: 2000 }), async (path, content) => {
      const [member] = await contents(concat([tarFile({ path }, content), tarEnd()]), 333);
      expect(member).toMatchObject({ path, size: content.length });
    }),
    { numRuns: 50 },
  );
});

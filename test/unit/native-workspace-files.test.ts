/** Files in and outputs out of a directory that somebody hostile has filled: nothing outside of it is written or read. */

import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import {
  collectFiles,
  makePrivateDirectory,
  maxOutputFileBytes,
  removePrivateDirectory,
  writeFiles,
} from "../../host/workspace-files.ts";
import { RuntimeError } from "../../src/errors.ts";
import type { PlannedFile } from "../../src/types.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, write, makeDirectory } = scratchDirectory();
const bytes = (text: string) => new TextEncoder().encode(text);
const modeOf = (path: string) => statSync(path).mode & 0o777;
const fds = () => (process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0);

let rooms = 0;
let root = "";
let outside = "";

beforeEach(() => {
  rooms += 1;
  root = makeDirectory(`${rooms}/root`);
  outside = makeDirectory(`${rooms}/outside`);
});

/** Puts one file in, and answers `null` or the refusal. */
function put(path: string, content = "new", executable = false): string | null {
  const file: PlannedFile = { path, bytes: content.length, executable };
  try {
    writeFiles(root, [file], { bytes: new Map([[path, bytes(content)]]), backend: "native" });
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(RuntimeError);
    expect(error).toMatchObject({ code: "files_failed", backend: "native", started: "no" });
    expect((error as Error).message).toContain(`File ${path} could not be put into the working directory: `);
    return (error as Error).message;
  }
}

/** Brings one out: its text, or why there is none. */
function get(path: string): string {
  const [file] = collectFiles(root, [path]);
  expect(file?.path).toBe(path);
  if (file !== undefined && "bytes" in file) return new TextDecoder().decode(file.bytes);
  return `missing: ${file?.missing}`;
}

describe("a file goes in", () => {
  test("with its directories, its bytes and its mode", () => {
    expect([put("a/b/c.txt", "é"), put("run", "#!", true), put("empty", "")]).toEqual([null, null, null]);
    expect(readFileSync(join(root, "a/b/c.txt"))).toEqual(Buffer.from("é"));
    expect(readFileSync(join(root, "empty"), "utf8")).toBe("");
    expect(modeOf(join(root, "run")) & 0o111).not.toBe(0);
    expect(modeOf(join(root, "a/b/c.txt")) & 0o111).toBe(0);
  });

  test("in the place of one that is there, wholly, and becomes executable if it is to be", () => {
    write(`${rooms}/root/old`, "longer than the new one", 0o644);
    expect(put("old", "new", true)).toBeNull();
    expect([readFileSync(join(root, "old"), "utf8"), modeOf(join(root, "old"))]).toEqual(["new", 0o755]);
  });

  test("through a link that stays inside", () => {
    mkdirSync(join(root, "real"));
    symlinkSync("real", join(root, "link"));
    expect(put("link/x")).toBeNull();
    expect(readFileSync(join(root, "real/x"), "utf8")).toBe("new");
  });
});

describe("a file does not go in", () => {
  test("through a link in its own place, wherever that leads", () => {
    const target = write(`${rooms}/outside/target`, "old");
    symlinkSync(target, join(root, "link"));
    symlinkSync(join(outside, "made"), join(root, "dangling"));
    write(`${rooms}/root/inside`, "old");
    symlinkSync("inside", join(root, "near"));
    for (const path of ["link", "dangling", "near"]) expect(put(path)).not.toBeNull();
    expect([readFileSync(target, "utf8"), get("inside"), readdirSync(outside)]).toEqual(["old", "old", ["target"]]);
    expect(lstatSync(join(root, "link")).isSymbolicLink()).toBe(true);
  });

  test("through a link above it that leads out, and nothing is made there", () => {
    symlinkSync(outside, join(root, "out"));
    symlinkSync("../outside", join(root, "up"));
    symlinkSync(join(outside, "new"), join(root, "dangling"));
    symlinkSync(`${root}-sibling`, join(root, "sibling"));
    mkdirSync(`${root}-sibling`);
    for (const name of ["out", "up", "sibling"]) {
      expect(put(`${name}/x`)).toContain(`${name} leads out of the working directory`);
      expect(put(`${name}/deep/er/x`)).toContain(`${name} leads out of the working directory`);
    }
    expect(put("dangling/x")).not.toBeNull();
    expect([readdirSync(outside), readdirSync(`${root}-sibling`)]).toEqual([[], []]);
  });

  test("into what is no directory, or in the place of one", () => {
    write(`${rooms}/root/file`, "old");
    mkdirSync(join(root, "directory"));
    expect(put("file/x")).not.toBeNull();
    expect(put("directory")).not.toBeNull();
    expect(get("file")).toBe("old");
  });

  test("into a pipe that somebody reads", () => {
    const pipe = join(root, "pipe");
    execFileSync("mkfifo", [pipe]);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    expect(put("pipe", "s3cret")).toContain("not a regular file");
    closeSync(reader);
  });

  test("leaving a file open", () => {
    put("warm");
    const before = fds();
    mkdirSync(join(root, "directory"));
    for (let round = 0; round < 5; round += 1) {
      put("fine");
      put("directory");
      put("fine/x");
      get("fine");
      get("directory");
    }
    expect(fds()).toBe(before);
  });
});

describe("an output comes out", () => {
  test("byte for byte, each for itself", () => {
    write(`${rooms}/root/a/b`, Uint8Array.of(0xff, 0, 0x41));
    write(`${rooms}/root/__proto__`, "x");
    const files = collectFiles(root, ["a/b", "none", "__proto__"]);
    expect(files).toEqual([
      { path: "a/b", bytes: Uint8Array.of(0xff, 0, 0x41) },
      { path: "none", missing: "there is no such file" },
      { path: "__proto__", bytes: bytes("x") },
    ]);
    expect(files[0] && "bytes" in files[0] && files[0].bytes.buffer.byteLength).toBe(3);
  });

  test("through a directory's link that stays inside", () => {
    write(`${rooms}/root/real/x`, "mine");
    symlinkSync(join(root, "real"), join(root, "link"));
    expect(get("link/x")).toBe("mine");
  });
});

describe("an output does not come out", () => {
  test("where a link stands, or leads out above it", () => {
    write(`${rooms}/outside/secret`, "s3cret");
    symlinkSync(join(outside, "secret"), join(root, "link"));
    symlinkSync(outside, join(root, "out"));
    symlinkSync("/", join(root, "slash"));
    write(`${rooms}/root-sibling/secret`, "s3cret");
    symlinkSync(`${root}-sibling`, join(root, "sibling"));
    expect(get("link")).toBe("missing: it is a symbolic link");
    for (const path of ["out/secret", "slash/etc/passwd", "sibling/secret"]) {
      expect(get(path)).toBe("missing: it leads out of the working directory");
    }
  });

  test("where it is a directory, a pipe or nothing", () => {
    mkdirSync(join(root, "directory"));
    execFileSync("mkfifo", [join(root, "pipe")]);
    write(`${rooms}/root/file`, "");
    expect(get("directory")).toBe("missing: it is not a regular file");
    expect(get("pipe")).toBe("missing: it is not a regular file");
    for (const path of ["none", "none/deeper", "file/x"]) expect(get(path)).toBe("missing: there is no such file");
  });

  test("where it is more than can be held", () => {
    truncateSync(write(`${rooms}/root/large`), maxOutputFileBytes + 1);
    expect(get("large")).toBe(`missing: it has ${maxOutputFileBytes + 1} bytes, the most is ${maxOutputFileBytes}`);
  });
});

describe("a private directory", () => {
  test("is nobody else's and goes with all that is in it", () => {
    const one = makePrivateDirectory();
    const other = makePrivateDirectory();
    expect(one).not.toBe(other);
    expect([modeOf(one), readdirSync(one)]).toEqual([0o700, []]);
    mkdirSync(join(one, "a/b"), { recursive: true });
    symlinkSync(outside, join(one, "a/out"));
    write(`${rooms}/outside/kept`, "x");
    for (const directory of [one, other, other]) expect(removePrivateDirectory(directory)).toEqual([]);
    expect([existsSync(one), existsSync(other), readdirSync(outside)]).toEqual([false, false, ["kept"]]);
  });

  test("that cannot be removed is named", () => {
    const impossible = `${at("x")}\0`;
    expect(removePrivateDirectory(impossible)).toEqual([
      { kind: "directory", name: impossible, reason: expect.stringContaining("") },
    ]);
  });
});

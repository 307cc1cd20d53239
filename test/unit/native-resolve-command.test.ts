/** The file that a command names is found, or it is said why it cannot be run: before anything is. */

import { execFileSync } from "node:child_process";
import { copyFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { resolveCommand } from "../../adapters/_native/resolve-command.ts";
import { RuntimeError } from "../../src/errors.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { path: base, at, write, makeDirectory } = scratchDirectory();
const script = "#!/bin/sh\nexit 0\n";

/** The file, or code and message of the refusal. */
function found(command: string, env: Readonly<Record<string, string>> = {}, workingDir = base): string {
  try {
    return resolveCommand(command, { platform: process.platform, workingDir, env });
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    expect(error).toMatchObject({ backend: "native", started: "no" });
    return `${error.code}: ${error.message}`;
  }
}

describe("the search", () => {
  write("one/tool", script, 0o755);
  write("two/tool", script, 0o755);
  write("plain/tool", script, 0o644);
  makeDirectory("dir/tool");

  test("takes the first entry that has it", () => {
    expect(found("tool", { PATH: `${at("none")}:${at("two")}:${at("one")}` })).toBe(at("two/tool"));
  });

  test("goes on past what cannot be run, and names it if nothing else is there", () => {
    expect(found("tool", { PATH: `${at("plain")}:${at("dir")}:${at("one")}` })).toBe(at("one/tool"));
    expect(found("tool", { PATH: `${at("plain")}:${at("dir")}` })).toBe(
      `not_executable: Command cannot be executed: ${at("plain/tool")} has no permission to be executed: chmod +x it`,
    );
  });

  test("uses the command's own PATH and working directory, never the host's", () => {
    expect(found("tool", { PATH: "one" })).toBe(at("one/tool"));
    expect(found("tool", { PATH: "" }, at("one"))).toBe(at("one/tool"));
    expect(found("./tool", { PATH: "/none" }, at("two"))).toBe(at("two/tool"));
    expect(found("sh", { PATH: at("one") })).toBe(
      `command_not_found: Command not found: sh: no entry of PATH (${at("one")}) has it`,
    );
    expect(found("sh")).toMatch(/^\/.*\/sh$/);
  });

  test("says of a path that it is not there, and nothing of PATH", () => {
    expect(found("/no/such/tool")).toBe("command_not_found: Command not found: /no/such/tool");
    expect(found("./none")).toBe("command_not_found: Command not found: ./none");
    expect(found(`${at("one/tool")}/x`)).toMatch(/^command_not_found/);
  });
});

test("an interpreter is found by a name beyond ASCII, and told by it", () => {
  write("путь/sh", script, 0o755);
  expect(found(write("beyond", `#!${at("путь/sh")}\n`, 0o755))).toBe(at("beyond"));
  expect(found(write("unknown", "#!/нет/sh\n", 0o755))).toContain('is missing: "/нет/sh"');
});

describe("what cannot be run", () => {
  const cannot = (file: string, why: string) => `not_executable: Command cannot be executed: ${file} ${why}`;
  const fifo = at("fifo");
  execFileSync("mkfifo", ["-m", "755", fifo]);
  const noProgram = 'is neither a program nor a script that begins with "#!"';

  test.each([
    [makeDirectory("directory"), "is a directory"],
    [fifo, "is not a regular file"],
    ["/dev/null", "is not a regular file"],
    [write("plain.sh", script, 0o644), "has no permission to be executed: chmod +x it"],
    [write("text", "echo hi\n", 0o755), noProgram],
    [write("empty", "", 0o755), noProgram],
    [write("late", "\n#!/bin/sh\n", 0o755), noProgram],
    [write("marked", "\ufeff#!/bin/sh\n", 0o755), noProgram],
    [write("binary", Uint8Array.of(0x7f, 0x45, 0x4c), 0o755), noProgram],
    [write("hash", "#!", 0o755), 'begins with "#!" but names no interpreter'],
    [write("hash-line", "#! \t\nexit 0\n", 0o755), 'begins with "#!" but names no interpreter'],
    [write("missing", "#!/no/such/sh -e\n", 0o755), 'names an interpreter that is missing: "/no/such/sh"'],
    [write("crlf", "#!/bin/sh\r\nexit 0\r\n", 0o755), 'names an interpreter that is missing: "/bin/sh\\r"'],
    [write("elsewhere", "#!interpreter\n", 0o755), 'names an interpreter that is missing: "interpreter"'],
  ])("%s", (file, why) => {
    expect(found(file)).toBe(cannot(file, why));
  });
});

describe("what can", () => {
  test.each([
    ["/bin/sh"],
    [write("plain-script", script, 0o755)],
    [write("spaces", "#! \t /bin/sh \t-e\nexit 0\n", 0o755)],
    [write("no-newline", "#!/bin/sh", 0o755)],
    [write("by-env", "#!/usr/bin/env no-such-program\n", 0o755)],
    [write("owner-only", script, 0o700)],
    [write("with space é", script, 0o755)],
    [write("macho", Uint8Array.of(0xcf, 0xfa, 0xed, 0xfe, 7), 0o755)],
    [write("universal", Uint8Array.of(0xca, 0xfe, 0xba, 0xbe, 0), 0o755)],
  ])("%s", (file) => {
    expect(found(file)).toBe(file);
  });

  test("an interpreter named from the working directory is taken from there, as the kernel does", () => {
    write("here/interpreter", script, 0o755);
    const file = write("here/relative", "#!./interpreter\n", 0o755);
    expect(found(file, {}, at("here"))).toBe(file);
    expect(found(file, {}, base)).toContain('an interpreter that is missing: "./interpreter"');
  });
});

describe("links", () => {
  test("are followed to what they lead to, and found under their own name", () => {
    symlinkSync("/bin/sh", at("link"));
    symlinkSync(at("link"), at("link-to-link"));
    expect(found("./link-to-link")).toBe(at("link-to-link"));
    symlinkSync(write("linked", "no program", 0o755), at("link-to-text"));
    expect(found("./link-to-text")).toMatch(/^not_executable/);
  });

  test("that lead nowhere, or round in a circle, are not there", () => {
    symlinkSync(at("nowhere"), at("dangling"));
    symlinkSync(at("circle"), at("circle"));
    expect(found("./dangling")).toMatch(/^command_not_found/);
    expect(found("./circle")).toMatch(/^command_not_found/);
    expect(found("dangling", { PATH: `${base}:/bin` })).toMatch(/^command_not_found/);
  });
});

test("a file that has changed is looked at anew", () => {
  const file = at("changing");
  copyFileSync("/bin/sh", file);
  expect(found(file)).toBe(file);
  expect(found(file)).toBe(file);
  writeFileSync(file, "no program any more");
  utimesSync(file, new Date(0), new Date(0));
  expect(found(file)).toMatch(/^not_executable/);
  writeFileSync(file, script);
  expect(found(file)).toBe(file);
});

/** Where a command is looked for, in order, on both families of systems. */

import { describe, expect, test } from "vitest";
import { commandCandidates, defaultPath, namesPath, searchPath } from "../../adapters/_native/command-candidates.ts";

const posix = (command: string, env: Readonly<Record<string, string>> = {}) =>
  commandCandidates(command, { platform: "linux", workingDir: "/w/d", env });
const windows = (command: string, env: Readonly<Record<string, string>> = {}) =>
  commandCandidates(command, { platform: "win32", workingDir: "D:\\w", env });

describe("where paths begin with a slash", () => {
  test.each<[string, readonly string[]]>([
    ["/bin/ls", ["/bin/ls"]],
    ["./tool", ["/w/d/tool"]],
    ["bin/tool", ["/w/d/bin/tool"]],
    ["../tool", ["/w/tool"]],
    ["a\\b", ["/only/a\\b"]],
    ["C:tool", ["/only/C:tool"]],
  ])("%s", (command, expected) => {
    expect(posix(command, { PATH: "/only" })).toEqual(expected);
  });

  test("a name is searched in the command's own PATH, entry by entry", () => {
    expect(posix("tool", { PATH: "/a:/b/:/c/../d" })).toEqual(["/a/tool", "/b/tool", "/d/tool"]);
  });

  test("relative and empty entries start at the working directory", () => {
    expect(posix("tool", { PATH: ".:bin::../x:" })).toEqual([
      ...["/w/d/tool", "/w/d/bin/tool", "/w/d/tool", "/w/x/tool", "/w/d/tool"],
    ]);
    expect(posix("tool", { PATH: "" })).toEqual(["/w/d/tool"]);
  });

  test("without a PATH there is a default one, and PATH is spelled in one way", () => {
    const expected = defaultPath.split(":").map((entry) => `${entry}/tool`);
    expect(posix("tool")).toEqual(expected);
    expect(posix("tool", { Path: "/x", path: "/y" })).toEqual(expected);
    expect(expected.every((path) => path.startsWith("/"))).toBe(true);
  });
});

describe("on Windows", () => {
  test.each<[string, readonly string[]]>([
    ["C:\\bin\\ls.exe", ["C:\\bin\\ls.exe"]],
    [".\\tool.EXE", ["D:\\w\\tool.EXE"]],
    ["bin/tool.com", ["D:\\w\\bin\\tool.com"]],
    ["C:\\bin\\ls", ["C:\\bin\\ls.COM", "C:\\bin\\ls.EXE"]],
    ["..\\tool", ["D:\\tool.COM", "D:\\tool.EXE"]],
  ])("%s", (command, expected) => {
    expect(windows(command, { PATH: "C:\\only" })).toEqual(expected);
  });

  test("PATH and PATHEXT are the command's own, in whatever case, and empty entries are none", () => {
    const env = { Path: "C:\\a;;rel", PathExt: ".PY;;.EXE" };
    expect(windows("tool", env)).toEqual([
      "C:\\a\\tool.PY",
      "C:\\a\\tool.EXE",
      "D:\\w\\rel\\tool.PY",
      "D:\\w\\rel\\tool.EXE",
    ]);
    expect(windows("tool.py", env)).toEqual(["C:\\a\\tool.py", "D:\\w\\rel\\tool.py"]);
    expect(windows("tool.exe", { PATH: "" })).toEqual([]);
  });

  test("without a PATH the system's own directory is searched", () => {
    expect(windows("cmd.exe")).toEqual(["C:\\Windows\\System32\\cmd.exe"]);
    expect(windows("cmd.exe", { SystemRoot: "E:\\Win" })).toEqual(["E:\\Win\\System32\\cmd.exe"]);
  });
});

test.each([
  ["ls", false, false],
  ["./ls", true, true],
  ["a/b", true, true],
  ["a\\b", false, true],
  ["C:ls", false, true],
])("%s says where it is: %s, on Windows %s", (command, onPosix, onWindows) => {
  expect([namesPath(command, "linux"), namesPath(command, "darwin")]).toEqual([onPosix, onPosix]);
  expect(namesPath(command, "win32")).toBe(onWindows);
});

test("the PATH that is told is the one that is searched", () => {
  expect(searchPath({ platform: "linux", workingDir: "/", env: {} })).toBe(defaultPath);
  expect(searchPath({ platform: "linux", workingDir: "/", env: { PATH: "" } })).toBe("");
  expect(searchPath({ platform: "win32", workingDir: "C:\\", env: { pAtH: "X:\\" } })).toBe("X:\\");
});

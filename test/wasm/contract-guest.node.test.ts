/** The guest `contract` against the shell scripts that it stands for: the same bytes, the same endings, the same files. */

import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { asScript, type FixtureName, fixtures } from "../contract/programs.ts";
import { beyondGuests } from "../fixtures/guest-fixtures.ts";
import { need } from "../fixtures/needed.ts";
import { wasmObstacle } from "../rig/wasm/place.ts";
import { CompiledGuests, type GuestSettings, run, runGuest } from "./guest-run.ts";

type Way = readonly [FixtureName, readonly string[], string?];

/** What ends by itself, with arguments and stdin. */
const ways: readonly Way[] = [
  ["print-args", ["a b", "", "$HOME", "*", "-", "中"]],
  ["print-both", []],
  ["flood", ["200000"]],
  ["flood-stderr", ["70000"]],
  ["interleave", ["3"]],
  ["binary", []],
  ["characters", ["5", "2"]],
  ["partial-utf8", []],
  ["split-character", [], "go\n"],
  ["no-newline", []],
  ["exit-with", ["0"]],
  ["exit-with", ["1"]],
  ["sleep", ["0.05"]],
  ["named", ["me", "1", "0.05"]],
  ["eat-memory", ["3000000"]],
  ["cat", [], "line\nno end"],
  ["read-line", [], "line\n"],
  ["read-line", [], "no end"],
  ["read-line", [], ""],
  ["conversation", [], "one\n\ntwo\nno end"],
  ["slow-cat", [], "x".repeat(150_000)],
  ["write-file", ["written", "content"]],
  ["read-file", ["present"]],
  ["link", ["present", "linked"]],
  ["make-directory", ["made"]],
];

/** What goes on until it is ended, and how it is seen to run. */
const endless: readonly (readonly [FixtureName, readonly string[], string])[] = [
  ["endless", ["yes"], "yes\nyes\n"],
  ["metered-flood", ["beats"], "0".repeat(200_000)],
  ["close-stdin", [], "closed\n"],
];

const obstacle = wasmObstacle();
test("a wasmtime and the guests are there", (context) => need(context, obstacle));

describe.each(obstacle === null ? ["contract/wasip1", "contract/wasip2"] : [])("%s", (name) => {
  const isFirstPreview = name.endsWith("1");
  let guests: CompiledGuests;
  let module = "";
  let directory = "";
  const newDirectory = () => {
    rmSync(directory, { recursive: true, force: true });
    directory = mkdtempSync(join(tmpdir(), "prx-guest-"));
    writeFileSync(join(directory, "present"), "here\n");
  };
  beforeAll(() => {
    guests = new CompiledGuests();
    module = guests.compile(name);
  });
  afterAll(() => guests[Symbol.dispose]());
  beforeEach(newDirectory);
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  const fixture = (name: FixtureName, args: readonly string[] = [], settings: GuestSettings = {}) =>
    runGuest(module, { directory, ...settings, args: [name, ...args] });

  const each = ways.map(([name, args, input = ""]) => [name, args, input] as const);
  test.each(each)("%s %j", async (name, args, input) => {
    const script = asScript(name, args);
    const expected = await run(script.command, { args: script.args, input, cwd: directory });
    const files = listed(directory);
    newDirectory();
    const actual = await fixture(name, args, { input });
    expect(actual.stdout.equals(expected.stdout)).toBe(true);
    expect(actual.stderr.equals(expected.stderr)).toBe(true);
    expect(actual.code).toBe(expected.code);
    expect(listed(directory)).toEqual(files);
  });

  test.each(endless)("%s %j goes on until it is ended", async (name, args, beginning) => {
    const { code, stdout, stderr } = await fixture(name, args, { until: ({ length }) => length >= beginning.length });
    expect([code, String(stderr)]).toEqual([null, ""]);
    expect(String(stdout).startsWith(beginning)).toBe(true);
    // The last of what was written may still stand for its byte.
    if (args[0] === "beats") expect(lstatSync(join(directory, "beats")).size).toBeGreaterThan(1);
  });

  test("heartbeat adds byte after byte", async () => {
    const beats = () => lstatSync(join(directory, "beats"), { throwIfNoEntry: false })?.size ?? 0;
    const { code, stdout } = await fixture("heartbeat", ["beats"], { until: () => beats() > 3 });
    expect([code, stdout.length]).toEqual([null, 0]);
  });

  test("print-env tells what was passed on, and nothing else", async () => {
    const { stdout } = await fixture("print-env", [], { options: ["--env", "A=1=2", "--env", "EMPTY="] });
    expect(String(stdout)).toBe("A=1=2\0EMPTY=\0");
  });

  test("pwd is the directory that the guest has", async () => {
    expect(String((await fixture("pwd")).stdout)).toBe("/\n");
  });

  test("eat-memory ends where it may not have more", async () => {
    const options = ["-W", "max-memory-size=67108864"];
    expect((await fixture("eat-memory", ["300000000"], { options })).code).toBe(134);
  });

  test("a file that is not there is told on stderr", async () => {
    const { code, stderr } = await fixture("read-file", ["missing"]);
    expect([code, String(stderr)]).toEqual([1, expect.stringMatching(/^read-file: No such file/)]);
  });

  test("a code is passed on, and from a component only whether it is 0", async () => {
    expect((await fixture("exit-with", ["7"])).code).toBe(isFirstPreview ? 7 : 1);
  });

  test.each(Object.keys(beyondGuests) as FixtureName[])("%s is refused", async (name) => {
    const { code, stderr } = await fixture(name);
    expect([code, String(stderr)]).toEqual([isFirstPreview ? 99 : 1, `${name}: a WASI program cannot do this\n`]);
  });
});

test("every fixture is asked here, or cannot be had", () => {
  const asked = [...ways, ...endless].map(([name]) => name);
  const all = new Set([...asked, "heartbeat", "print-env", "pwd", ...Object.keys(beyondGuests)]);
  expect([...all].sort()).toEqual(Object.keys(fixtures).sort());
});

/** Each name with what is behind it. */
function listed(directory: string): readonly string[] {
  return readdirSync(directory)
    .sort()
    .map((name) => {
      const path = join(directory, name);
      const what = lstatSync(path);
      if (what.isDirectory()) return `${name}/`;
      return what.isSymbolicLink() ? `${name} -> ${readlinkSync(path)}` : `${name}: ${readFileSync(path, "utf8")}`;
    });
}

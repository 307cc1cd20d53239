/** Files that a person names: links lead on, but not out of a directory in which commands work. */

import { execFileSync } from "node:child_process";
import { closeSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import { beforeEach, describe, expect, test } from "vitest";
import { reasonOf } from "../../host/held-directory.ts";
import { holdNamed, openNamed, placesOfCommands } from "../../host/named-files.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, write, makeDirectory } = scratchDirectory();
let rooms = 0;
let place = "";
let outside = "";
let places: readonly string[] = [];

beforeEach(() => {
  rooms += 1;
  place = makeDirectory(`${rooms}/place`);
  outside = makeDirectory(`${rooms}/outside`);
  mkdirSync(join(place, "inner"));
  places = placesOfCommands([place, join(place, "inner"), at("missing"), "/"]);
});

function read(path: string): string {
  try {
    const held = holdNamed(path, places);
    const text = readFileSync(held.path, "utf8");
    held.close();
    return text;
  } catch (error) {
    return reasonOf(error);
  }
}

/** `null` or the refusal. */
function save(path: string): string | null {
  try {
    const fd = openNamed(path, places);
    writeFileSync(fd, "new");
    closeSync(fd);
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

const refusal = (root: string) => `a link leads it out of ${root}, where commands work: name the real path`;

describe("a link in a place of commands", () => {
  test("is not followed out of it, in the name's place or above it, by whatever way the name is written", () => {
    const secret = write(`${rooms}/outside/secret`, "secret");
    symlinkSync(secret, join(place, "link"));
    symlinkSync("../outside/secret", join(place, "up"));
    symlinkSync(outside, join(place, "above"));
    symlinkSync("link", join(place, "twice"));
    symlinkSync(place, join(outside, "into"));
    symlinkSync(join(place, "link"), join(outside, "own"));
    for (const name of [
      "place/link",
      "place/up",
      "place/above/secret",
      "place/twice",
      "outside/into/link",
      "outside/own",
    ]) {
      const path = join(place, "..", name);
      for (const written of [path, relative(process.cwd(), path)])
        expect([read(written), save(written)], name).toEqual([refusal(place), refusal(place)]);
    }
    expect([read(secret), save(join(place, "above/made"))]).toEqual(["secret", refusal(place)]);
    expect(read(join(outside, "made"))).toMatch(/^ENOENT/);
  });

  test("is not followed out of the innermost of them", () => {
    write(`${rooms}/place/mine`, "mine");
    symlinkSync("../mine", join(place, "inner/link"));
    symlinkSync("inner", join(place, "to-inner"));
    symlinkSync(join(place, "inner"), join(place, "to-inner-too"));
    for (const name of ["inner/link", "to-inner/link", "to-inner-too/link"]) {
      const path = join(place, name);
      expect([read(path), save(path)], name).toEqual([refusal(join(place, "inner")), refusal(join(place, "inner"))]);
    }
  });

  test("leads on inside of it, and to what is made there", () => {
    write(`${rooms}/place/a/file`, "mine");
    symlinkSync("a", join(place, "b"));
    symlinkSync(join(place, "b/file"), join(place, "link"));
    symlinkSync("a/new", join(place, "dangling"));
    expect([read(join(place, "b/file")), read(join(place, "link"))]).toEqual(["mine", "mine"]);
    expect([save(join(place, "link")), save(join(place, "dangling"))]).toEqual([null, null]);
    expect([read(join(place, "a/file")), read(join(place, "a/new"))]).toEqual(["new", "new"]);
    expect(lstatSync(join(place, "link")).isSymbolicLink()).toBe(true);
  });

  test("makes no difference to a plain name", () => {
    expect([save(join(place, "plain")), read(join(place, "plain"))]).toEqual([null, "new"]);
    expect([read(join(place, "none")), save(join(place, "none/x"))]).toEqual([
      expect.stringMatching(/^ENOENT/),
      expect.stringMatching(/^ENOENT/),
    ]);
  });
});

test("a pipe that stands in a place of commands is not written to", () => {
  execFileSync("mkfifo", [join(place, "pipe")]);
  expect(save(join(place, "pipe"))).toBe("it is not a regular file");
});

test("somebody's own link elsewhere is followed, and so are the names of what is open", () => {
  const target = write(`${rooms}/outside/target`, "old");
  symlinkSync(target, join(outside, "link"));
  expect([read(join(outside, "link")), save(join(outside, "link")), read(target)]).toEqual(["old", null, "new"]);
  expect([save("/dev/null"), read("/dev/null")]).toEqual([null, ""]);
});

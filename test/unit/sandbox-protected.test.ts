/** Protected names are kept by something that stands for them, and nothing of that stays. */

import { existsSync, lstatSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { placeMissing } from "../../adapters/_native/sandbox/protected-paths.ts";
import { composeView } from "../../adapters/_native/sandbox/view.ts";
import { refuseReplaced } from "../../adapters/_native/sandbox/visible.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, write, makeDirectory } = scratchDirectory();

describe("what stands for a missing name", () => {
  test("is an empty file or directory, with what is above it, and goes again", () => {
    const work = makeDirectory("one");
    const { remove } = placeMissing(work, [".git/hooks/", ".bashrc"]);
    expect([lstatSync(at("one/.git/hooks")).isDirectory(), lstatSync(at("one/.bashrc")).size]).toEqual([true, 0]);
    remove();
    expect([existsSync(at("one/.git")), existsSync(at("one/.bashrc"))]).toEqual([false, false]);
    remove();
  });

  test("stays where somebody has put something into it meanwhile, and what was there is never touched", () => {
    const work = makeDirectory("two");
    write("two/kept", "");
    const { remove } = placeMissing(work, [".git/hooks/", ".profile", "kept"]);
    write("two/.git/config", "x");
    writeFileSync(at("two/.profile"), "x");
    remove();
    expect([existsSync(at("two/.git/config")), existsSync(at("two/.git/hooks"))]).toEqual([true, false]);
    expect([existsSync(at("two/.profile")), existsSync(at("two/kept"))]).toEqual([true, true]);
  });

  test.each([
    ["a link", () => symlinkSync("/etc", at("three/.git")), /three\/\.git is a symbolic link/],
    ["a file", () => void write("three/.git", "x"), /three\/\.git is no directory/],
  ])("is refused on the way through %s, and nothing stays", (_, make, message) => {
    const work = makeDirectory("three");
    make();
    expect(() => placeMissing(work, ["first", ".git/hooks/"])).toThrow(message);
    expect(existsSync(at("three/first"))).toBe(false);
    rmSync(at("three/.git"));
  });
});

test("a mount whose source was replaced by a link since it was listed is refused", () => {
  const source = makeDirectory("work/inner/listed");
  const view = composeView({
    ...{ system: [], toolchains: [], protectedPaths: [], hidden: [], network: false, home: null },
    ...{ listed: [{ kind: "readonly", at: source, source }], workingDir: at("work") },
  });
  expect(view.mounts.map((mount) => mount.at)).toContain(at("work/inner"));
  refuseReplaced(view);
  renameSync(at("work/inner"), at("work/moved"));
  makeDirectory("work/inner");
  symlinkSync("/root", source);
  expect(() => refuseReplaced(view)).toThrow(expect.objectContaining({ code: "policy_unenforceable" }));
});

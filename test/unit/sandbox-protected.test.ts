/** Protected names are kept by something that stands for them, and nothing of that stays. */

import { existsSync, lstatSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openRecordStore } from "../../adapters/_native/run-records.ts";
import { placeMissing as place } from "../../adapters/_native/sandbox/protected-paths.ts";
import { composeView } from "../../adapters/_native/sandbox/view.ts";
import { refuseReplaced } from "../../adapters/_native/sandbox/visible.ts";
import { sweepOrphans } from "../../adapters/_native/sweep.ts";
import { currentWorld } from "../../host/process-name.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, write, makeDirectory } = scratchDirectory();
let executions = 0;
const placeMissing = (work: string, names: readonly string[], owner = "host") => {
  executions += 1;
  return place(work, names, { ownDirectory: at(`state/${owner}`), id: `x${executions}` });
};

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

describe("what several executions rely on", () => {
  test.each([
    ["of one host", "host", "host"],
    ["of two hosts", "host", "other"],
  ])("%s stays until the last of them ends, whichever that is", (_, one, two) => {
    const work = makeDirectory("shared");
    const names = [".git/hooks/", ".bashrc"];
    const hasBoth = () => [existsSync(at("shared/.git/hooks")), existsSync(at("shared/.bashrc"))];
    const first = placeMissing(work, names, one);
    const second = placeMissing(work, names, two);
    first.remove();
    expect(hasBoth()).toEqual([true, true]);
    const third = placeMissing(work, [".bashrc"], one);
    second.remove();
    expect(hasBoth()).toEqual([false, true]);
    third.remove();
    expect([hasBoth(), existsSync(at("shared/.git"))]).toEqual([[false, false], false]);
    expect(readdirSync(at(`state/${two}`))).toEqual([]);
  });

  test("an empty file of somebody's own is never taken for a placeholder", () => {
    const work = makeDirectory("mine");
    write("mine/.bashrc", "");
    const [first, second] = [placeMissing(work, [".bashrc"]), placeMissing(work, [".bashrc"])];
    first.remove();
    second.remove();
    expect(existsSync(at("mine/.bashrc"))).toBe(true);
  });

  test("a dead host's placeholders go by the next sweep, but for what a living one relies on", async () => {
    const work = makeDirectory("swept");
    const store = openRecordStore(makeDirectory("hosts"));
    const living = store.own("living", []);
    const dead = { pid: process.pid, startedAt: "1", ...currentWorld(), cgroups: [] };
    write("hosts/dead/owner.json", JSON.stringify(dead));
    place(work, ["alone", "both", "filled"], { ownDirectory: at("hosts/dead"), id: "a" });
    writeFileSync(at("swept/filled"), "x");
    place(work, ["both"], { ownDirectory: living.home, id: "b" });
    await sweepOrphans(store);
    expect([readdirSync(work).sort(), existsSync(at("hosts/dead"))]).toEqual([["both", "filled"], false]);
    living.close();
    expect(readdirSync(work)).toEqual(["filled"]);
    expect(readdirSync(at("hosts"))).toEqual([]);
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

/** Compiled modules, kept where nobody else can write, and used only as they were kept. */

import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openArtifactStore } from "../../adapters/_wasm/artifacts.ts";

let home = "";
const before = process.env["XDG_CACHE_HOME"];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "prx-cache-"));
  process.env["XDG_CACHE_HOME"] = home;
});
afterEach(() => {
  if (before === undefined) delete process.env["XDG_CACHE_HOME"];
  else process.env["XDG_CACHE_HOME"] = before;
  rmSync(home, { recursive: true, force: true });
});

/** Makes an artifact of that content, and counts how often. */
function maker(content: string) {
  const made = { count: 0 };
  const make = async (directory: string) => {
    made.count += 1;
    await new Promise((resolve) => setTimeout(resolve, 20));
    const path = join(directory, "module.bin");
    writeFileSync(path, content);
    return path;
  };
  return { made, make };
}

describe("an artifact", () => {
  it("is made once, for all who wait and for later processes", async () => {
    const { made, make } = maker("compiled");
    const store = openArtifactStore();
    const paths = await Promise.all([store.get("key", make), store.get("key", make), store.get("key", make)]);
    expect(new Set(paths).size).toBe(1);
    expect(readFileSync(paths[0] as string, "utf8")).toBe("compiled");
    expect(await openArtifactStore().get("key", make)).toBe(paths[0]);
    expect(made.count).toBe(1);
  });

  it("is another for another key", async () => {
    const store = openArtifactStore();
    const one = await store.get("one", maker("1").make);
    const two = await store.get("two", maker("2").make);
    expect([readFileSync(one, "utf8"), readFileSync(two, "utf8")]).toEqual(["1", "2"]);
  });

  it("that could not be made is tried again by the next", async () => {
    const store = openArtifactStore();
    await expect(store.get("key", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(readFileSync(await store.get("key", maker("ok").make), "utf8")).toBe("ok");
    expect(readdirSync(store.directory).filter((name) => name.startsWith("making-"))).toEqual([]);
  });

  it.each<[string, (path: string, directory: string) => void]>([
    ["has another content", (path) => writeFileSync(path, "evil")],
    ["is gone", (path) => rmSync(path)],
    ["can be written by others", (path) => chmodSync(path, 0o666)],
    ["has another name", (path, directory) => linkSync(path, join(directory, "other"))],
    [
      "is a link",
      (path, directory) => {
        writeFileSync(join(directory, "elsewhere"), "compiled");
        rmSync(path);
        symlinkSync(join(directory, "elsewhere"), path);
      },
    ],
    [
      "is named by a key that says nothing",
      (_, directory) => writeFileSync(join(directory, "key"), "../../etc/passwd"),
    ],
  ])("is made anew where the one that is there %s", async (_, change) => {
    const { made, make } = maker("compiled");
    const first = openArtifactStore();
    change(await first.get("key", make), first.directory);
    // In this process, which remembers it, and in another.
    for (const store of [first, openArtifactStore()]) {
      if (made.count === 2) break;
      await store.get("key", make);
    }
    expect(made.count).toBe(2);
  });

  it("can be a directory, and is made anew where a file in it was changed, added or removed", async () => {
    const changes: ((path: string) => void)[] = [
      (path) => writeFileSync(join(path, "a"), "evil"),
      (path) => writeFileSync(join(path, "c"), "more"),
      (path) => rmSync(join(path, "b")),
      (path) => chmodSync(join(path, "a"), 0o666),
    ];
    let count = 0;
    const make = async (directory: string) => {
      count += 1;
      mkdirSync(join(directory, "module.bin"));
      for (const name of ["a", "b"]) writeFileSync(join(directory, "module.bin", name), name);
      return join(directory, "module.bin");
    };
    for (const [index, change] of changes.entries()) {
      const store = openArtifactStore();
      const path = await store.get("key", make);
      expect(await store.get("key", make)).toBe(path);
      expect(count).toBe(index + 1);
      change(path);
      const again = await store.get("key", make);
      expect(
        readdirSync(again)
          .sort()
          .map((name) => readFileSync(join(again, name), "utf8")),
      ).toEqual(["a", "b"]);
      expect(count).toBe(index + 2);
      rmSync(join(store.directory, "key"));
      rmSync(again, { recursive: true });
      count = index + 1;
    }
  });

  it("is kept elsewhere where others may write into the cache directory", async () => {
    mkdirSync(join(home, "prx-runtime"), { mode: 0o777 });
    chmodSync(join(home, "prx-runtime"), 0o777);
    const store = openArtifactStore();
    expect(store.directory.startsWith(home)).toBe(false);
    const path = await store.get("key", maker("compiled").make);
    expect(readFileSync(path, "utf8")).toBe("compiled");
    store.close();
    expect(() => readFileSync(path)).toThrow("ENOENT");
  });
});

it("what dead processes left half made is removed, and what is being made is not", async () => {
  const store = openArtifactStore();
  const old = join(store.directory, "making-old");
  mkdirSync(old);
  utimesSync(old, 1, 1);
  mkdirSync(join(store.directory, "making-new"));
  await store.get("key", maker("x").make);
  expect(readdirSync(store.directory).filter((name) => name.startsWith("making-"))).toEqual(["making-new"]);
});

/** The memory adapter's working directories: files in, outputs out, and no way outside. */

import { expect, test } from "vitest";
import { createFiles, joinPath } from "../../adapters/_memory/file-tree.ts";
import { memoryWorld } from "../../adapters/memory.ts";
import { adapterOf, never, noIo, planFor } from "./memory-plan.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test("paths are followed as a kernel does, links included", () => {
  const files = createFiles({ initial: { "/w/a/file": "1", "/etc/passwd": "root", "/w/real": null } });
  files.link("/w/link", "/etc");
  files.link("/w/near", "a/file");
  files.link("/w/loop", "loop");
  expect(files.inspect("/w/link/../w/a/file")).toMatchObject({ kind: "file", realPath: "/w/a/file" });
  expect(files.inspect("/w/link/passwd")).toMatchObject({ kind: "file", realPath: "/etc/passwd" });
  expect(files.inspect("/w/../etc").realPath).toBe("/etc");
  expect(files.inspect("/w/loop").kind).toBe("missing");
  expect(files.inspect("/w/none").kind).toBe("missing");
  expect(text(files.read("/w/near"))).toBe("1");
  expect(() => files.write("/w/a/file/x", "no")).toThrow("Not a directory");
  expect(() => files.read("/w/a")).toThrow("Not a regular file");
  expect(files.list("/w/a")).toEqual(["/w/a", "/w/a/file"]);
  expect(joinPath("/w", "../x/./y//z")).toBe("/x/y/z");
});

test("files go in before the program begins, and outputs come out after all of it is over", async () => {
  const adapter = await adapterOf({
    programs: {
      work: async ({ files, resolve, spawn }) => {
        files.append(resolve("in/data.txt"), "+");
        spawn(
          async (child) => {
            child.trap();
            await new Promise((done) => child.signal.addEventListener("abort", done));
            child.files.write(child.resolve("late.txt"), "from the background");
          },
          ["child"],
        );
      },
    },
  });
  const plan = planFor(["work"], {
    files: [{ path: "in/data.txt", bytes: 4, executable: false }],
    outputs: ["in/data.txt", "late.txt", "nothing"],
  });
  const given = new Map([["in/data.txt", new TextEncoder().encode("data")]]);
  const execution = await adapter.start(plan, { files: given }, never());
  const outputs = await execution.outputs;
  expect(outputs.map((file) => ("bytes" in file ? text(file.bytes) : file.missing))).toEqual([
    "data+",
    "from the background",
    expect.stringContaining("nothing"),
  ]);
});

test("a private directory is gone after the release; a named one stays", async () => {
  const world = memoryWorld();
  const adapter = await adapterOf({
    world,
    programs: { touch: async ({ files, resolve }) => files.write(resolve("x"), "1") },
  });
  const own = await adapter.start(planFor(["touch"]), noIo, never());
  await own.released;
  expect(world.files.list("/run").filter((path) => path !== "/run")).toEqual([]);
  const named = await adapter.start(planFor(["touch"], { workingDir: "/w" }), noIo, never());
  await named.released;
  expect(world.files.list("/w")).toEqual(["/w", "/w/x"]);
});

test("nothing goes in or out of the working directory by a path or a link", async () => {
  const world = memoryWorld({ files: { "/w": null, "/etc/passwd": "secret" } });
  world.files.link("/w/out", "/etc");
  world.files.link("/w/passwd", "/etc/passwd");
  const adapter = await adapterOf({ world, programs: { ok: async () => {} } });
  for (const path of ["../x", "/etc/x", "a/../../x", "", "a\0b", "out/x"]) {
    const plan = planFor(["ok"], { workingDir: "/w", files: [{ path, bytes: 1, executable: false }] });
    const execution = await adapter.start(plan, { files: new Map([[path, new Uint8Array(1)]]) }, never());
    await expect(execution.ended).rejects.toMatchObject({ code: "files_failed" });
    await execution.released;
  }
  const outputs = ["../etc/passwd", "/etc/passwd", "passwd", "out/passwd"];
  const execution = await adapter.start(planFor(["ok"], { workingDir: "/w", outputs }), noIo, never());
  for (const file of await execution.outputs) expect("missing" in file).toBe(true);
  expect(world.files.list("/etc")).toEqual(["/etc", "/etc/passwd"]);
});

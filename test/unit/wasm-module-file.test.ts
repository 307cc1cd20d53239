/** Which file a module is. */

import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readModuleName } from "../../adapters/_wasm/module-file.ts";
import { createModuleCache } from "../../adapters/_wasm/modules.ts";
import { moduleOf } from "../fixtures/wasm-modules.ts";

const home = realpathSync(mkdtempSync(join(tmpdir(), "prx-modules-")));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const modulePath = join(home, "modules");
const bytes = moduleOf({});
const digest = createHash("sha256").update(bytes).digest("hex");
const other = moduleOf({ memories: [1] });
mkdirSync(join(modulePath, "below"), { recursive: true });
writeFileSync(join(modulePath, "tool.wasm"), bytes);
writeFileSync(join(modulePath, "below", "inner.wasm"), other);
writeFileSync(join(modulePath, "text.wasm"), "#!/bin/sh\n");
writeFileSync(join(home, "here.wasm"), other);
symlinkSync("tool.wasm", join(modulePath, "linked.wasm"));
const modules = createModuleCache({ modulePath, workingDir: home });

describe("a module", () => {
  it.each([
    ["tool", join(modulePath, "tool.wasm")],
    ["tool.wasm", join(modulePath, "tool.wasm")],
    ["linked", join(modulePath, "tool.wasm")],
    ["below/inner.wasm", join(modulePath, "below", "inner.wasm")],
    ["./here.wasm", join(home, "here.wasm")],
    [join(home, "here.wasm"), join(home, "here.wasm")],
    [`tool@sha256:${digest}`, join(modulePath, "tool.wasm")],
    [`sha256:${digest}`, join(modulePath, "tool.wasm")],
  ])("%s is found", async (name, path) => {
    expect((await modules.load(name)).path).toBe(path);
  });

  it.each([
    ["nothing", "command_not_found", "Module not found: nothing"],
    ["../here.wasm", "command_not_found", "Module not found"],
    ["here.wasm", "command_not_found", "Module not found"],
    ["below", "not_executable", "it is a directory"],
    ["text", "not_executable", "it is no WASM binary"],
    [`tool@sha256:${"0".repeat(64)}`, "not_executable", "is not the one that is pinned"],
    [`sha256:${"0".repeat(64)}`, "command_not_found", "none in"],
    ["tool@sha256:abc", "invalid_request", "64 hexadecimal digits"],
  ])("%s is refused", async (name, code, why) => {
    const loading = modules.load(name);
    await expect(loading).rejects.toMatchObject({ code, backend: "wasm" });
    await expect(loading).rejects.toThrow(why);
  });

  it("that is changed is looked at anew, and one that was pinned is refused", async () => {
    const path = join(modulePath, "changing.wasm");
    writeFileSync(path, bytes);
    const pinned = `changing@sha256:${digest}`;
    const before = await modules.load(pinned);
    expect((await modules.bytesOf(before)).length).toBe(bytes.length);
    writeFileSync(path, other);
    expect((await modules.load("changing")).binary.memories).toHaveLength(1);
    await expect(modules.load(pinned)).rejects.toThrow("is not the one that is pinned");
    await expect(modules.bytesOf(before)).rejects.toThrow("was changed while it was about to be run");
  });

  it("that appears is found", async () => {
    await expect(modules.load("late")).rejects.toThrow("not found");
    writeFileSync(join(modulePath, "late.wasm"), bytes);
    expect((await modules.load("late")).digest).toBe(digest);
  });
});

it("a name is taken apart from its pin", () => {
  expect(readModuleName("a@b")).toEqual({ name: "a@b", digest: null });
  expect(readModuleName(`/x/a@b.wasm@sha256:${digest}`)).toEqual({ name: "/x/a@b.wasm", digest });
});

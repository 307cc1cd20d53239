/** A working directory is judged by where it really is, and refused before anything is told of it. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createSystemHost } from "../../host/system-host.ts";
import { RuntimeError } from "../../src/errors.ts";
import type { Host } from "../../src/host.ts";
import { isInside, resolveWorkingDir } from "../../src/working-dir.ts";
import { hostOf, planOf } from "./core-parts.ts";

/** What came of it: the path, or the code and message of the refusal. */
async function resolved(given: string, host: Host, allowedRoots: readonly string[] = []): Promise<string> {
  try {
    return await resolveWorkingDir(given, { host, allowedRoots, backend: "native" });
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    expect(error).toMatchObject({ backend: "native", started: "no" });
    expect(error.message).toContain(given);
    return error.code;
  }
}

describe("without roots", () => {
  const host = hostOf({
    workingDir: "/home/me",
    paths: { "/data": "directory", "/data/file": "file", "/dev/pipe": "other", "/home/me/sub": "directory" },
  });

  test.each([
    ["/data", "/data"],
    ["sub", "/home/me/sub"],
    ["/none", "working_dir_not_found"],
    ["none", "working_dir_not_found"],
    ["/data/file", "working_dir_not_a_directory"],
    ["/dev/pipe", "working_dir_not_a_directory"],
  ])("%s is %s", async (given, expected) => {
    expect(await resolved(given, host)).toBe(expected);
  });

  test("relative paths start at the host's own directory, whichever way it is written", async () => {
    const windows = hostOf({ workingDir: "C:\\me\\", paths: { "C:\\me/sub": "directory", "D:\\x": "directory" } });
    expect(await resolved("sub", windows)).toBe("C:\\me/sub");
    expect(await resolved("D:\\x", windows)).toBe("D:\\x");
    const root = hostOf({ workingDir: "/", paths: { "/sub": "directory" } });
    expect(await resolved("sub", root)).toBe("/sub");
  });
});

describe("with roots, on a real disk", () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "prx-working-dir-")));
  afterAll(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "w");
  for (const path of ["w/a/b", "outside/deep", "wother"]) mkdirSync(join(base, path), { recursive: true });
  writeFileSync(join(base, "w/file"), "");
  writeFileSync(join(base, "outside/file"), "");
  symlinkSync(join(base, "outside/deep"), join(base, "w/a/link"));
  symlinkSync(root, join(base, "alias"));
  symlinkSync(join(base, "nowhere"), join(base, "w/dangling"));
  symlinkSync(join(base, "w/loop"), join(base, "w/loop"));
  const host = createSystemHost();

  const inside: readonly (readonly [string, string])[] = [
    ["w", "w"],
    ["w/a/b", "w/a/b"],
    ["w/a/../a/b/.", "w/a/b"],
    ["alias/a", "w/a"],
  ];
  test.each(inside)("%s is inside", async (given, real) => {
    for (const allowed of [root, `${root}/`, join(base, "alias")]) {
      expect(await resolved(`${base}/${given}`, host, ["/nonexistent", allowed])).toBe(join(base, real));
    }
  });

  test.each([
    ["wother"],
    ["w/../outside"],
    ["w/a/link"],
    ["w/a/link/.."],
    ["w/a/link/../../w/.."],
    ["."],
    ["outside/file"],
    ["outside/none"],
    ["w/../none"],
    ["w/none/../../outside"],
  ])("%s is outside, and nothing else is said of it", async (given) => {
    for (const allowed of [root, `${root}/`, join(base, "alias")]) {
      expect(await resolved(`${base}/${given}`, host, [allowed])).toBe("working_dir_not_allowed");
    }
  });

  test("what is inside is told: missing, a file, a link to nothing, a loop", async () => {
    expect(await resolved(`${root}/dangling`, host, [root])).toBe("working_dir_not_found");
    expect(await resolved(`${root}/none`, host, [root])).toBe("working_dir_not_found");
    expect(await resolved(`${root}/none/deeper`, host, [root])).toBe("working_dir_not_found");
    expect(await resolved(`${root}/file`, host, [root])).toBe("working_dir_not_a_directory");
    expect(await resolved(`${root}/file/x`, host, [root])).toBe("working_dir_not_found");
    expect(await resolved(`${root}/loop`, host, [root])).toBe("working_dir_not_found");
  });

  test("the root of everything allows everything", async () => {
    expect(await resolved(`${base}/outside`, host, ["/"])).toBe(join(base, "outside"));
  });
});

describe("roots of other forms", () => {
  const paths = { "/home/me/work/a": "directory", "~/work/a": "directory", "/project": "directory" } as const;

  test("a leading ~ is the host user's home", async () => {
    const host = hostOf({ env: { HOME: "/home/me" }, paths });
    expect(await resolved("/home/me/work/a", host, ["~/work"])).toBe("/home/me/work/a");
    expect(await resolved("/home/me/work/a", host, ["~"])).toBe("/home/me/work/a");
    expect(await resolved("/project", host, ["~/work"])).toBe("working_dir_not_allowed");
  });

  test.each([[{}], [{ HOME: "" }], [{ HOME: "relative" }]])("without a home (%j) it allows nothing", async (env) => {
    const host = hostOf({ env, paths });
    for (const given of ["/home/me/work/a", "/project", "~/work/a"]) {
      expect(await resolved(given, host, ["~/work"])).toBe("working_dir_not_allowed");
    }
  });

  test("paths of Windows are parted by backslashes, those of others are not", async () => {
    expect(await isInside("C:\\w\\a", ["C:\\w"], hostOf())).toBe(true);
    expect(await isInside("C:\\wother", ["C:\\w"], hostOf())).toBe(false);
    expect(await isInside("C:\\w", ["C:\\"], hostOf())).toBe(true);
    expect(await isInside("\\\\server\\share\\a", ["\\\\server\\share"], hostOf())).toBe(true);
    expect(await isInside("/w\\..\\etc", ["/w"], hostOf())).toBe(false);
  });
});

describe("no directory in the request", () => {
  const config = { security: { allowed_workspace_roots: ["/w"] } };
  const at = (workingDir: string) =>
    hostOf({ workingDir, paths: { "/w": "directory", "/w/link": { linkTo: "/etc" }, "/etc": "directory" } });

  test("the host's own is used where it is allowed, by where it really is", async () => {
    expect((await planOf({ config, host: at("/w") })).plan.workingDir).toBe("/w");
    expect((await planOf({ config, host: at("/etc") })).plan.workingDir).toBeNull();
    expect((await planOf({ config, host: at("/w/link") })).plan.workingDir).toBeNull();
    expect((await planOf({ host: at("/etc") })).plan.workingDir).toBe("/etc");
  });
});

/** The checker of doors, versions and pins, seen catching what does not fit. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { checkExports } from "../../scripts/check-exports.ts";

const roots: string[] = [];

afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

const door = (name: string) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` });
const core = door("src/core");
const edge = { workerd: core, "edge-light": core, worker: core, browser: core };
const sound = {
  npm: {
    version: "1.2.3",
    bin: { program: "./dist/cli.js" },
    exports: { ".": { ...edge, ...door("mod") }, "./core": core },
    dependencies: { hono: "4.0.0" },
    allowScripts: { bun: true },
  },
  deno: { version: "1.2.3", exports: { ".": "./mod.ts", "./core": "./src/core.ts" } },
  lock: { version: "1.2.3", packages: { "": {}, "node_modules/bun": { hasInstallScript: true } } },
};

function judge({ npm = {}, deno = {}, lock = {} }: Partial<Record<keyof typeof sound, object>>): string {
  const root = mkdtempSync(join(tmpdir(), "prx-house-"));
  roots.push(root);
  mkdirSync(join(root, "src"));
  for (const path of ["mod.ts", "cli.ts", "src/core.ts"]) writeFileSync(join(root, path), "");
  writeFileSync(join(root, "package.json"), JSON.stringify({ ...sound.npm, ...npm }));
  writeFileSync(join(root, "deno.json"), JSON.stringify({ ...sound.deno, ...deno }));
  writeFileSync(join(root, "package-lock.json"), JSON.stringify({ ...sound.lock, ...lock }));
  return checkExports(root).join("\n");
}

test("a sound pair has no problem", () => {
  expect(judge({})).toBe("");
});

test.each([
  [
    "a door of one side only",
    { deno: { exports: { ...sound.deno.exports, "./more": "./more.ts" } } },
    "./more is exported by deno.json alone",
  ],
  [
    "a door to nowhere",
    { deno: { exports: { ...sound.deno.exports, "./core": "./src/gone.ts" } } },
    "./src/gone.ts, which does not exist",
  ],
  [
    "a door to another file",
    { npm: { exports: { ...sound.npm.exports, "./core": door("core") } } },
    "./core must lead to ./dist/src/core.js",
  ],
  [
    "types after the default",
    { npm: { exports: { ...sound.npm.exports, "./core": { default: core.default, types: core.types } } } },
    "its types before its default",
  ],
  [
    "an edge condition that is missing",
    { npm: { exports: { ...sound.npm.exports, ".": { ...edge, worker: undefined, ...door("mod") } } } },
    "under the condition worker",
  ],
  [
    "an edge condition that comes too late",
    { npm: { exports: { ...sound.npm.exports, ".": { ...door("mod"), ...edge } } } },
    "under the condition workerd",
  ],
  ["a program without a source", { npm: { bin: { program: "./dist/gone.js" } } }, "gone.ts, which does not exist"],
  ["another version", { deno: { version: "1.2.4" } }, "deno.json is at 1.2.4"],
  ["a lock file of another version", { lock: { version: "1.0.0" } }, "package-lock.json is at 1.0.0"],
  ["a range", { npm: { dependencies: { hono: "^4.0.0" } } }, "hono is not pinned"],
  [
    "a lock file that names a registry",
    { lock: { packages: { "node_modules/a": { resolved: "https://host/a.tgz" } } } },
    "names a registry",
  ],
  ["an install script nobody decided on", { npm: { allowScripts: {} } }, "bun has an install script"],
])("%s", (_name, change, said) => {
  expect(judge(change)).toContain(said);
});

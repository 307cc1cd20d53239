/** Of what this program consists, and which directories cannot be a command's because of it. */

import { realpathSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { keptOf, ownsItself } from "../../adapters/_native/sandbox/own-program.ts";
import { composeView, type Mount } from "../../adapters/_native/sandbox/view.ts";
import { cacheDirectory } from "../../host/cache-directory.ts";
import { findOwnProgram, partAround, partIn } from "../../host/own-program.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, write } = scratchDirectory();
const manifest = (path: string, content: unknown) => write(`${path}/package.json`, JSON.stringify(content));

describe("the program is", () => {
  const executable = write("project/node_modules/node/bin/node", "");

  test("this checkout, and what runs it", () => {
    const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
    const found = findOwnProgram();
    expect(found.root).toBe(root);
    expect(found.places[0]).toBe(root);
  });

  test("its package with all that it loads, wherever a package manager has put that", () => {
    manifest("project", { name: "mine" });
    manifest("project/node_modules/prx-runtime", {
      name: "prx-runtime",
      dependencies: { "@a/b": "1", c: "1", d: "1" },
    });
    manifest("project/node_modules/@a/b", { dependencies: { e: "1" }, optionalDependencies: { c: "1" } });
    manifest("project/node_modules/prx-runtime/node_modules/c", {});
    manifest("project/node_modules/c", {});
    manifest("store/e", {});
    symlinkSync(at("store/e"), at("project/node_modules/e"));
    const code = write("project/node_modules/prx-runtime/dist/adapters/x.js", "");
    expect(findOwnProgram(code, executable, null)).toEqual({
      root: at("project/node_modules/prx-runtime"),
      places: [
        ...["node_modules/prx-runtime", "node_modules/node/bin/node", "node_modules/@a/b"].map((p) =>
          at(`project/${p}`),
        ),
        at("store/e"),
        ...["node_modules/c", "node_modules/prx-runtime/node_modules/c"].map((p) => at(`project/${p}`)),
      ],
    });
  });

  test("one file, where it is a part of another program's", () => {
    const bundle = write("project/bundle.js", "");
    expect(findOwnProgram(bundle, executable, null)).toEqual({ root: null, places: [bundle, executable] });
    expect(findOwnProgram(null, executable, null).places).toEqual([executable]);
  });

  test("what is compiled of it, too", () => {
    const compiled = dirname(write("cache/prx-runtime/compiled", ""));
    expect(findOwnProgram(null, executable, compiled).places).toEqual([executable, compiled]);
    const cache = cacheDirectory();
    expect(cache === null || findOwnProgram().places.includes(realpathSync(cache))).toBe(true);
  });
});

describe.each([
  ["/home/u", null],
  ["/home/u/prx/project", null],
  ["/home/u/prx/project/src", null],
  ["/home/u/prx", "/home/u/prx"],
  ["/home/u/prx/src", "/home/u/prx"],
  ["/home/u/prx/.git/hooks", "/home/u/prx"],
  ["/home/u/prx/node_modules/.bin", "/home/u/prx"],
  ["/home/u/node_modules/valibot", "/home/u/node_modules/valibot"],
])("a working directory at %s", (workingDir, place) => {
  const own = { root: "/home/u/prx", places: ["/home/u/prx", "/home/u/node_modules/valibot"] };
  const viewOf = (workingDir: string, listed: readonly Mount[] = []) =>
    composeView({
      keptFiles: keptOf(own, workingDir, listed),
      ...{ system: [], toolchains: [], listed, protectedPaths: [], hidden: [], network: false, home: null, workingDir },
    });

  test(`is ${place === null ? "no part" : "a part"} of the program`, () => {
    const told = place === null ? null : expect.stringContaining(`a part of this program itself (${place})`);
    expect(ownsItself(viewOf(workingDir), own)).toEqual(told);
    const listed: Mount = { kind: "writable", at: workingDir, source: workingDir };
    expect(ownsItself(viewOf("/elsewhere", [listed]), own)).toEqual(told);
  });
});

test("a part of the program is in what holds it, and around what is in it", () => {
  const program = { root: "/srv/app/prx", places: ["/srv/app/prx", "/usr/bin/node"] };
  expect(["/srv", "/srv/app/prx", "/usr/bin", "/srv/app/prx2"].map((at) => partIn(at, program))).toEqual([
    ...["/srv/app/prx", "/srv/app/prx", "/usr/bin/node"],
    null,
  ]);
  expect(["/srv/app/prx/src/x", "/srv/app/prx/mine", "/srv"].map((at) => partAround(at, program))).toEqual([
    "/srv/app/prx",
    null,
    null,
  ]);
});

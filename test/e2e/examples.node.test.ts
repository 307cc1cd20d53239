/** The programs of examples/, unchanged on each runtime: each prints what its `// →` comments say, and nothing else. */

import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, describe, expect, test } from "vitest";
import { expectedLines, printedLines, root } from "../fixtures/code-blocks.ts";

const bin = join(root, "node_modules/.bin");
const home = realpathSync(mkdtempSync(join(tmpdir(), "prx-examples-")));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const runtimes: Readonly<Record<string, readonly string[]>> = { node: [], bun: [], deno: ["run", "-A"] };
/** What an example drives, and nobody starts by hand. */
const driven = ["examples/mcp-word-server.ts"];
const programs = globSync("examples/**/*.ts", { cwd: root }).sort();

/** A home of its own, so that no configuration of the user's is found; Deno's cache stays where it is. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, LANG, DENO_DIR, XDG_CACHE_HOME, HOME } = process.env;
  const cache = XDG_CACHE_HOME ?? join(HOME ?? home, ".cache");
  return { PATH: [bin, PATH].join(":"), HOME: home, LANG, DENO_DIR: DENO_DIR ?? join(cache, "deno"), NO_COLOR: "1" };
}

describe.each(programs.filter((path) => !driven.includes(path)))("%s", (path) => {
  const expected = expectedLines(readFileSync(join(root, path), "utf8"));

  test("says what it prints, and how it is started", () => {
    expect(expected.length).toBeGreaterThan(0);
    const text = readFileSync(join(root, path), "utf8");
    for (const start of [`node ${path}`, `bun ${path}`, `deno run -A ${path}`]) expect(text).toContain(start);
  });

  test.each(Object.entries(runtimes))("%s prints it", (name, args) => {
    const { status, stdout, stderr } = spawnSync(join(bin, name), [...args, path], {
      ...{ cwd: root, env: environment(), encoding: "utf8", timeout: 25_000 },
    });
    expect({ status, stderr, lines: printedLines(stdout) }).toEqual({ status: 0, stderr: "", lines: expected });
  });
});

test("every file of examples/ is one that is run, or is driven by one", () => {
  for (const path of driven) {
    expect(programs).toContain(path);
    const name = path.replace("examples/", "");
    const drivers = programs.filter(
      (one) => one !== path && readFileSync(join(root, one), "utf8").includes(`./${name}`),
    );
    expect(drivers).not.toEqual([]);
  }
});

/** The pages against the checkout: links lead somewhere, and ARCHITECTURE.md knows every file and every dependency. */

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob } from "node:path";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { root } from "../fixtures/code-blocks.ts";

const pages = [...globSync("*.md", { cwd: root }), ...globSync("docs/**/*.md", { cwd: root })].sort();
const read = (path: string) => readFileSync(join(root, path), "utf8");
const architecture = read("ARCHITECTURE.md");

/** What stands in backquotes in the first cell of a table's rows. */
const firstCells = architecture
  .split("\n")
  .map((line) => /^\| ([^|]+) \|/.exec(line)?.[1] ?? "")
  .flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));

test.each(pages)("every link of %s leads to a file of the checkout, or out of it", (page) => {
  const links = [...read(page).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
  const broken = links.filter((link) => !/^https:/.test(link) && !existsSync(join(root, dirname(page), link)));
  expect(broken).toEqual([]);
});

test("every file of src, host and adapters has its line in ARCHITECTURE.md", () => {
  const files = globSync(["src/**/*.ts", "host/**/*.ts", "adapters/**/*.ts"], { cwd: root }).filter(
    (path) => !path.startsWith("src/http/"),
  );
  const homeless = files.filter((path) => !firstCells.some((pattern) => matchesGlob(path, pattern)));
  expect(homeless).toEqual([]);
});

test("every file that ARCHITECTURE.md has a line for is there", () => {
  const named = firstCells.filter((name) => /^(src|host|adapters)\/.*\.ts$/.test(name) && !name.includes("<"));
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((pattern) => globSync(pattern, { cwd: root }).length === 0)).toEqual([]);
});

test("every dependency says in ARCHITECTURE.md why it is there", () => {
  const { dependencies, optionalDependencies, devDependencies } = manifest;
  const packages = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies });
  expect(packages.filter((name) => !firstCells.includes(name))).toEqual([]);
  const told = firstCells.filter((name) => /^(@[a-z.-]+\/)?[a-z0-9.-]+$/.test(name) && !name.includes("."));
  expect(told.filter((name) => !packages.includes(name))).toEqual([]);
});

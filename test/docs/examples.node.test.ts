/** The code of the documentation is run: every `ts` block of the pages and of the doc comments. */

import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type CodeBlock,
  exampleBlocks,
  expectedLines,
  pageBlocks,
  printedLines,
  reasonToIgnore,
  root,
  toModule,
} from "../fixtures/code-blocks.ts";

const isCode = ({ language }: CodeBlock) => language === "ts";
const pages = pageBlocks();
const blocks = [...pages, ...exampleBlocks()].filter(isCode);
const nameOf = ({ path, line }: CodeBlock) => `${path}:${line}`;

let work = "";

/** A program of its own for each block, in a directory that sees the checkout's packages and no configuration. */
beforeAll(async () => {
  work = realpathSync(mkdtempSync(join(tmpdir(), "prx-docs-")));
  symlinkSync(join(root, "node_modules"), join(work, "node_modules"));
  writeFileSync(join(work, "package.json"), '{ "type": "module" }\n');
  for (const block of blocks) writeFileSync(join(work, fileOf(block)), await toModule(block));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

const fileOf = (block: CodeBlock) => `${nameOf(block).replaceAll(/[^a-z0-9]+/gi, "-")}.ts`;

/** A place to run in, with the files that the page shows: a `toml` block that has a name. */
function workingDirFor({ path }: CodeBlock): string {
  const directory = join(work, `in-${path.replaceAll(/[^a-z0-9]+/gi, "-")}`);
  mkdirSync(directory, { recursive: true });
  for (const page of pages.filter((one) => one.path === path && one.language === "toml" && one.info !== "")) {
    writeFileSync(join(directory, page.info), page.code);
  }
  return directory;
}

/** The host's variables that decide nothing here, and an empty home: no configuration of the user's is found. */
function cleanEnv(): NodeJS.ProcessEnv {
  const { PATH, LANG, TMPDIR } = process.env;
  return { PATH: [join(root, "node_modules/.bin"), PATH].join(":"), HOME: work, LANG: LANG ?? "C.UTF-8", TMPDIR };
}

describe.concurrent("every block", () => {
  for (const block of blocks) {
    test(nameOf(block), async ({ expect, skip }) => {
      const reason = reasonToIgnore(block);
      if (reason !== null) skip(`only its types are checked: ${reason}`);
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(work, fileOf(block))], {
        cwd: workingDirFor(block),
        env: cleanEnv(),
        timeout: 25_000,
      });
      expect(stderr).toBe("");
      expect(printedLines(stdout)).toEqual(expectedLines(block.code));
    });
  }
});

test("every block passes the compiler, those that are not run included", () => {
  const options = { extends: join(root, "tsconfig.json"), include: ["*.ts"] };
  // An example may show a value and use it no further.
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false };
  writeFileSync(join(work, "tsconfig.json"), JSON.stringify({ ...options, compilerOptions }));
  const tsc = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", work], { encoding: "utf8" });
  expect(tsc.stdout).toBe("");
  expect(tsc.status).toBe(0);
});

test("most blocks are run, and each that is not says why", () => {
  const ignored = blocks.filter((block) => reasonToIgnore(block) !== null);
  // Each of them is also in the summary of the tests, as skipped with its reason.
  const excused = ["adapters/docker.ts", "adapters/wasm.ts", "test/contract/suite.ts"];
  expect([...new Set(ignored.map(({ path }) => path))].sort()).toEqual(excused);
  expect(blocks.length).toBeGreaterThan(10 * ignored.length);
  const unknown = blocks.filter(({ info }) => info !== "" && !info.startsWith("ignore: "));
  expect(unknown.map(nameOf)).toEqual([]);
});

test("a page's other blocks are in a language that is looked at", () => {
  const known = ["ts", "sh", "toml", "text"];
  expect(pages.filter(({ language }) => !known.includes(language)).map(nameOf)).toEqual([]);
});

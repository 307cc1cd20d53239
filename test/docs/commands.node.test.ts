/** The commands of the documentation: those of the program are run, of the others it is checked that what they name exists. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { type CodeBlock, pageBlocks, printedLines, root } from "../fixtures/code-blocks.ts";
import { missing, need } from "../fixtures/needed.ts";

/** A line of a `sh` block, and the lines below it that say what it prints. */
interface DocumentedCommand {
  readonly name: string;
  readonly line: string;
  readonly expected: readonly string[];
}

const work = realpathSync(mkdtempSync(join(tmpdir(), "prx-docs-commands-")));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const commands = pageBlocks()
  .filter(({ language }) => language === "sh")
  .flatMap(commandsOf);

function commandsOf({ path, line, code }: CodeBlock): readonly DocumentedCommand[] {
  const found: { name: string; line: string; expected: string[] }[] = [];
  for (const [index, text] of code.trimEnd().split("\n").entries()) {
    const said = /^# → (.*)$/.exec(text)?.[1];
    if (said === undefined) found.push({ name: `${path}:${line + index}: ${text}`, line: text, expected: [] });
    else found.at(-1)?.expected.push(said);
  }
  return found;
}

const program = /(^|\| )(\.\/prx|prx-runtime) /g;
const isOurs = ({ line }: DocumentedCommand) => line.search(program) !== -1;

describe("what is not ours", () => {
  test.each(commands.filter((command) => !isOurs(command)))("$name", ({ line }) => {
    if (/^mkdir -p \w+$/.test(line))
      return void mkdirSync(join(work, line.split(" ").at(-1) ?? ""), { recursive: true });
    const [, script] = /^npm (?:run )?([a-z:]+)$/.exec(line) ?? [];
    const [, file] = /^npm exec -- (?:node|bun|deno run -A) (\S+\.ts)$/.exec(line) ?? [];
    if (file !== undefined) expect(existsSync(join(root, file))).toBe(true);
    else expect(Object.keys(manifest.scripts)).toContain(script);
  });
});

describe("the program", () => {
  test.for(commands.filter(isOurs))("$name", ({ line, expected }, context) => {
    if (line.includes("--sandbox")) need(context, missing("bwrap"));
    const { PATH, LANG } = process.env;
    const { status, stdout, stderr } = spawnSync("sh", ["-c", line.replaceAll(program, `$1"${root}/prx" `)], {
      ...{ cwd: work, env: { PATH, LANG, HOME: work }, encoding: "utf8", timeout: 25_000 },
    });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    // Each documented line is printed, in that order; what else is printed is not shown in the documentation.
    const printed = printedLines(stdout);
    expect(printed.filter((one) => expected.includes(one))).toEqual(expected);
    expect(printed.length).toBeGreaterThan(0);
  });
});

test("set-up takes two commands, and they are the first that are shown", () => {
  expect(
    commands
      .filter(({ name }) => name.startsWith("README.md:"))
      .slice(0, 2)
      .map(({ line }) => line),
  ).toEqual(["./prx run --backend native -- uname -a", "npm test"]);
});

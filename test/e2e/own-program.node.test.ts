/** The program is where its sandboxed command works: it stays as it is, or nothing runs. */

import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, test } from "vitest";
import { missing, need } from "../fixtures/needed.ts";
import { makePlace, runtimes, startArgv, textOf } from "./cli-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { folder, env } = makePlace();
const work = join(realpathSync(folder), "work");
const copy = join(work, "prx-copy");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
mkdirSync(copy, { recursive: true });
for (const name of ["adapters", "cli", "host", "src", "cli.ts", "mod.ts", "package.json"])
  cpSync(join(root, name), join(copy, name), { recursive: true });
for (const name of Object.keys(manifest.dependencies))
  cpSync(join(root, "node_modules", name), join(copy, "node_modules", name), { recursive: true });
mkdirSync(join(copy, "project"));

describe.each([
  ["bubblewrap", "bwrap"],
  ["firejail", "firejail"],
])("under %s", (sandbox, program) => {
  beforeEach((context) => need(context, missing(program)));
  const run = async (cwd: string, script: string) => {
    const argv = [runtimes.node[0], join(copy, "cli.ts"), "run", "--sandbox", sandbox, "--", "sh", "-c", script];
    return textOf(await startArgv(argv, { env, cwd }).ended);
  };

  test("a command in the directory above cannot change it", async () => {
    const before = readFileSync(join(copy, "cli.ts"), "utf8");
    const script =
      "echo evil >> prx-copy/cli.ts; echo evil > prx-copy/cli/evil.ts; rm -rf prx-copy; mv prx-copy away; mkdir prx-copy; echo ok > mine";
    expect(await run(work, script)).toMatchObject({ code: 0 });
    expect(readFileSync(join(copy, "cli.ts"), "utf8")).toBe(before);
    expect(readdirSync(join(copy, "cli"))).not.toContain("evil.ts");
    expect(readFileSync(join(work, "mine"), "utf8")).toBe("ok\n");
  });

  test("in its own directories nothing runs, and beside them a command does", async () => {
    for (const cwd of [copy, join(copy, "cli")]) {
      const said = { code: 77, stderr: expect.stringContaining("a part of this program itself") };
      expect(await run(cwd, "true")).toMatchObject(said);
    }
    await run(join(copy, "project"), "echo > made; echo > ../cli.ts; echo > ../evil");
    expect([readdirSync(join(copy, "project")), readdirSync(copy)]).toEqual([
      ["made"],
      expect.not.arrayContaining(["evil"]),
    ]);
  });
});

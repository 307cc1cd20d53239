/** Threads of one host do not end up in each other's cgroups. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const script = join(root, "test", "fixtures", "two-threads.ts");
const state = mkdtempSync(join(tmpdir(), "prx-threads-"));
afterAll(() => rmSync(state, { recursive: true, force: true }));

test.each([
  ["node", ["--no-warnings"]],
  ["bun", []],
  ["deno", ["run", "--quiet", "--allow-all", "--config", join(root, "deno.json")]],
])("on %s two threads start commands at the same time, each in a runtime of its own", async (program, args) => {
  const { stdout } = await promisify(execFile)(join(root, "node_modules", ".bin", program), [...args, script], {
    env: { ...process.env, PRX_STATE_DIR: state },
    timeout: 25_000,
  });
  expect(JSON.parse(stdout)).toEqual([]);
});

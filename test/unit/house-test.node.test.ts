/** `npm test` counts truly: whatever goes wrong in a run is a failure in its last line and in its exit code. */

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const ours = fileURLToPath(new URL("../..", import.meta.url));

/** Runs scripts/test.ts over test files of its own. */
function runTests(files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const root = mkdtempSync(join(tmpdir(), "prx-test-of-tests-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const path of ["scripts/test.ts", "scripts/test-report.ts", "vitest.config.ts", "package.json"]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    copyFileSync(join(ours, path), join(root, path));
  }
  symlinkSync(join(ours, "node_modules"), join(root, "node_modules"));
  mkdirSync(join(root, "test/unit"), { recursive: true });
  for (const [name, source] of Object.entries(files)) {
    writeFileSync(join(root, "test/unit", name), `import { beforeAll, expect, test } from "vitest";\n${source}\n`);
  }
  const { PRX_TEST_REPORT: _, PRX_TEST_RUNTIME: __, VITEST: ___, ...env } = process.env;
  const command = [join(root, "scripts/test.ts"), ...args];
  const { status, stdout } = spawnSync(process.execPath, command, { env, encoding: "utf8", stdio: "pipe" });
  return { status, stdout, last: stdout.trimEnd().split("\n").at(-1) };
}

const good = 'test("good", () => {});';

test("sums the runtimes, runs *.node.test.ts on Node only, and says why a test was skipped", () => {
  const { status, stdout, last } = runTests({
    "a.test.ts": `${good}\ntest("no daemon", (context) => context.skip("no daemon here"));`,
    "b.node.test.ts": good,
  });
  expect({ status, last }).toEqual({ status: 0, last: "4 passed, 0 failed, 3 skipped" });
  expect(stdout).toContain("[deno] test/unit/a.test.ts > no daemon: no daemon here");
});

test("a failed test, a file that does not load, a failed hook and an error outside any test are failures", () => {
  const { status, stdout, last } = runTests(
    {
      "a.test.ts": `${good}\ntest("bad", () => expect(1).toBe(2));`,
      "b.test.ts": 'import "./gone.ts";',
      "c.test.ts": `beforeAll(() => { throw new Error("hook"); });\n${good}`,
      "d.test.ts": 'test("late", async () => { Promise.reject(new Error("stray")); });',
      "e.test.ts": `test.only("alone", () => {});\n${good}`,
    },
    "--runtime=node",
  );
  expect(status).toBe(1);
  for (const said of ["a.test.ts > bad", "b.test.ts", "c.test.ts", "stray", "e.test.ts"]) {
    expect(stdout).toMatch(new RegExp(`failed   \\[node\\] .*${said}`));
  }
  expect(last).toMatch(/^2 passed, 5 failed/);
});

test("a worker that dies and a run that hangs are failures", () => {
  const dead = runTests({ "a.test.ts": 'test("dies", () => process.kill(process.pid, "SIGKILL"));' }, "--runtime=node");
  expect(dead).toMatchObject({ status: 1, last: expect.stringMatching(/^0 passed, [1-9]\d* failed/) });
  const stuck = { "a.test.ts": 'test("hangs", () => { for (;;); });', "b.test.ts": good };
  const hung = runTests(stuck, "--runtime=node", "--limit-minutes=0.02");
  expect(hung).toMatchObject({ status: 1, last: "0 passed, 1 failed" });
  expect(hung.stdout).toContain("still running after 0.02 minutes");
});

test("a run without a passed test fails", () => {
  expect(runTests({})).toMatchObject({ status: 1, last: "0 passed, 0 failed" });
  const skipped = runTests({ "a.test.ts": 'test.skip("not now", () => {});' }, "--runtime=node");
  expect(skipped).toMatchObject({ status: 1, last: "0 passed, 0 failed, 1 skipped" });
  expect(runTests({ "a.test.ts": good }, "--suite=gone")).toMatchObject({ status: 64 });
});

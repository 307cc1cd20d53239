/** The contract for a user who owns no cgroup: what is held by process groups alone. */

import { execFile } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { CaseResult } from "../../testing.ts";
import { runScript } from "../fixtures/runtimes.ts";

const script = fileURLToPath(new URL("../fixtures/contract-run.ts", import.meta.url));
const nobody = 65_534;

test("trees, limits of time, cancelling and streams without a cgroup", { timeout: 120_000 }, async ({ skip }) => {
  if (process.getuid?.() !== 0) skip("only root can become another user");
  const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => existsSync(path));
  if (setpriv === undefined) return skip("there is no setpriv program");
  const home = mkdtempSync(join(tmpdir(), "prx-nobody-"));
  chownSync(home, nobody, nobody);
  chmodSync(home, 0o700);
  try {
    const identity = [`--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"];
    const cases = ["tree-", "timeout-", "cancel-", "close-", "stream-", "policy-demanded", "stdin-unread", "files-in"];
    const env = { PATH: "/usr/bin:/bin", HOME: home, TMPDIR: home, DENO_DIR: join(home, "deno") };
    const { stdout } = await promisify(execFile)(setpriv, [...identity, ...runScript, script, ...cases], {
      env,
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
      maxBuffer: 16 * 1024 * 1024,
    });
    const row: Readonly<Record<string, CaseResult>> = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    const failures = Object.entries(row).filter(([, { result }]) => result === "failed");
    expect(failures).toEqual([]);
    expect(Object.keys(row).length).toBeGreaterThan(30);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

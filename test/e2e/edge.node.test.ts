/** The core on a real edge runtime: bundled, loaded by workerd without its Node compatibility, and running a command. */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { bundleCore } from "../../scripts/bundle-core.ts";

/** Installed for this test only: it weighs 160 MB. */
const workerd = "workerd@1.20261117.1";

const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = .main)]);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["no_nodejs_compat"],
);
`;

test("workerd loads the core and runs a command with it", { timeout: 180_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "prx-workerd-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "allowScripts": { "workerd": true } }\n');
  const install = ["install", "--no-audit", "--no-fund", "--loglevel=error", workerd];
  execFileSync("npm", install, { cwd: folder, stdio: "pipe" });

  const entry = fileURLToPath(new URL("edge-worker.ts", import.meta.url));
  writeFileSync(join(folder, "worker.js"), (await bundleCore({ entry, format: "esm" })).code);
  writeFileSync(join(folder, "config.capnp"), config);
  const program = join(folder, "node_modules/.bin/workerd");
  const { status, stdout, stderr } = spawnSync(program, ["test", "config.capnp"], { cwd: folder, encoding: "utf8" });
  expect({ status, said: `${stdout}${stderr}` }).toEqual({
    status: 0,
    said: expect.stringContaining("the core ran a command"),
  });
});

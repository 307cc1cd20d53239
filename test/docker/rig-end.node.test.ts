/** The tests' own daemon: when it is ended, nothing that it mounted is left. */

import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { need } from "../fixtures/needed.ts";
import { has, run } from "../rig/docker/place.ts";

const part = (name: string) => JSON.stringify(fileURLToPath(new URL(`../rig/docker/${name}.ts`, import.meta.url)));
const script = `
const { startDaemon, stopDaemon } = await import(${part("daemon")});
const { runningPid, within } = await import(${part("background")});
try {
  await startDaemon();
  process.kill(runningPid("dockerd"), "SIGKILL");
  await within(20_000, () => runningPid("dockerd") === null);
  await startDaemon();
} finally {
  await stopDaemon();
}`;

test("ending it leaves nothing mounted, also after it was killed once", { timeout: 120_000 }, (context) => {
  need(context, process.getuid?.() === 0 && has("dockerd") ? null : "it takes root and dockerd");
  const home = realpathSync(mkdtempSync(join(tmpdir(), "rig-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const own = { PRX_RIG_DOCKER_HOME: home, PRX_RIG_DOCKER_PORT: "23790" };
  const words = Object.entries(own).map(([name, value]) => `${name}=${value}`);
  run("env", [...words, process.execPath, "--input-type=module", "--eval", script]);
  const mounted = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  expect(mounted.filter((line) => line.includes(` ${home}`))).toEqual([]);
});

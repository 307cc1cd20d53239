/**
 * `npm run rig:docker -- up | down | status`: a real dockerd with the images that the Docker tests need. Saying it twice changes
 * nothing. With `PRX_TEST_DOCKER=unix:///path` (or `tcp://host:port`) a daemon of one's own is used: `up` then only adds the images.
 */

import { rmSync } from "node:fs";
import { runningPid } from "./background.ts";
import { startDaemon, stopDaemon } from "./daemon.ts";
import { buildImages, missingImages } from "./images.ts";
import { answers, docker, isRig, rigHome, rigPort, testedHost, Unavailable } from "./place.ts";
import { startRegistries, stopRegistries } from "./registry.ts";

async function up(): Promise<number> {
  if (isRig) await startDaemon();
  else if (!answers()) throw new Unavailable(`No daemon answers at ${testedHost}`);
  buildImages();
  if (isRig) await startRegistries();
  return status();
}

async function down(): Promise<number> {
  if (!isRig) throw new Unavailable("PRX_TEST_DOCKER names a daemon that the rig has not started: it is left alone");
  await stopRegistries();
  await stopDaemon();
  return 0;
}

function status(): number {
  if (!answers()) {
    console.log(`rig: no daemon answers at ${testedHost}`);
    return 1;
  }
  const missing = missingImages();
  const version = docker("version", "--format", "{{.Server.Version}}, API {{.Server.APIVersion}}");
  console.log(`rig: docker ${version} at ${testedHost}${isRig ? ` and tcp://127.0.0.1:${rigPort}` : ""}`);
  if (isRig) console.log(`rig: dockerd has pid ${runningPid("dockerd") ?? "unknown"}, everything is below ${rigHome}`);
  console.log(missing.length === 0 ? "rig: all images are there" : `rig: missing: ${missing.join(", ")}`);
  return missing.length === 0 ? 0 : 1;
}

/** Everything the rig ever made, the data included. */
async function purge(): Promise<number> {
  await down();
  rmSync(rigHome, { recursive: true, force: true });
  return 0;
}

const commands: Readonly<Record<string, () => number | Promise<number>>> = { up, down, status, purge };
const command = commands[process.argv[2] ?? ""];
if (command === undefined) {
  console.error(`usage: npm run rig:docker -- ${Object.keys(commands).join(" | ")}`);
  process.exitCode = 64;
} else {
  try {
    process.exitCode = await command();
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    console.error(`rig: ${error.message}`);
    process.exitCode = 1;
  }
}

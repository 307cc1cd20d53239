/** Registries on loopback, from Debian's docker-registry: one for everybody, one that asks who one is. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runningPid, startProgram, stopProgram, within } from "./background.ts";
import { buildPulledImage } from "./images.ts";
import { docker, has, lockedRegistryPort, registryPort, rigHome, run, Unavailable } from "./place.ts";

/** Who the locked registry lets in. It holds nothing but busybox. */
export const registryUser = { name: "rig", password: "rig-password" };
/** The password above, as bcrypt keeps it. */
const passwordHash = "$2b$05$Ig8XNyWzYTMmcEzGT.swpO1ib.G71hTqxS7bzXpR/WM2r3oFfN3w.";

const registries = [
  { name: "registry", port: registryPort, isLocked: false },
  { name: "locked-registry", port: lockedRegistryPort, isLocked: true },
];

/** The image that both hold, and that the daemon has to pull. */
export const pulledImage = (port: number) => `127.0.0.1:${port}/prx/pulled:1`;

export async function startRegistries(): Promise<void> {
  if (!has("docker-registry"))
    throw new Unavailable("It takes Debian's docker-registry: apt-get install docker-registry");
  for (const { name, port, isLocked } of registries) {
    if (runningPid(name) !== null) continue;
    const home = join(rigHome, name);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "users"), `${registryUser.name}:${passwordHash}\n`);
    const settings = join(home, "config.json");
    writeFileSync(settings, JSON.stringify(settingsOf(home, port, isLocked)));
    startProgram({ name, program: "docker-registry", args: ["serve", settings] });
    if (!(await within(20_000, () => isListening(port))))
      throw new Unavailable(`The registry at port ${port} does not answer`);
    fill(port, isLocked);
  }
}

export async function stopRegistries(): Promise<void> {
  for (const { name } of registries) await stopProgram(name);
}

function settingsOf(home: string, port: number, isLocked: boolean) {
  return {
    version: 0.1,
    log: { level: "warn" },
    storage: { filesystem: { rootdirectory: join(home, "data") } },
    http: { addr: `127.0.0.1:${port}` },
    ...(isLocked ? { auth: { htpasswd: { realm: "rig", path: join(home, "users") } } } : {}),
  };
}

function isListening(port: number): boolean {
  try {
    run("bash", ["-c", `exec 3<>/dev/tcp/127.0.0.1/${port}`]);
    return true;
  } catch {
    return false;
  }
}

/** Pushed once; the daemon forgets it again, so that there is something to pull. */
function fill(port: number, isLocked: boolean): void {
  const image = pulledImage(port);
  if (isLocked)
    docker("login", "--username", registryUser.name, "--password", registryUser.password, `127.0.0.1:${port}`);
  buildPulledImage(image);
  docker("push", image);
  docker("rmi", image);
  if (isLocked) docker("logout", `127.0.0.1:${port}`);
}

/** Why there is nothing to pull from, or `null`. */
export function registryObstacle(): string | null {
  const silent = registries.find(({ port }) => !isListening(port));
  return silent === undefined ? null : `no registry answers at port ${silent.port}: npm run rig:docker -- up`;
}

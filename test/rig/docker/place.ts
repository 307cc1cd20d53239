/** Where the rig keeps what it makes, and where its daemon is reached: outside the checkout, and never at a default address. */

import { execFileSync } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";

/** Something that this machine lacks and that is not to be had. */
export class Unavailable extends Error {}

const home = process.env["PRX_RIG_DOCKER_HOME"];

/** The rig's own directory: data root, sockets, logs, and the trees that images are made of. */
export const rigHome =
  home || join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "prx-runtime", "docker");
export const rigSocket = join(rigHome, "run", "docker.sock");
/** Loopback only: whoever reaches a daemon is root. */
export const rigPort = Number(process.env["PRX_RIG_DOCKER_PORT"] || 23750);
export const registryPort = rigPort + 1;
/** Asks for a user and a password. */
export const lockedRegistryPort = rigPort + 2;

/**
 * The daemon that tests use: `PRX_TEST_DOCKER` (`unix:///path` or `tcp://host:port`), a daemon of one's own that is named on
 * purpose, or else the rig's. No other is ever looked at.
 */
export const testedHost = process.env["PRX_TEST_DOCKER"] || `unix://${rigSocket}`;
export const isRig = !process.env["PRX_TEST_DOCKER"];

/** Runs a program to its end and answers what it wrote. */
export function run(program: string, args: readonly string[], input?: Uint8Array): string {
  return execFileSync(program, args, {
    encoding: "utf8",
    stdio: ["pipe", "pipe", "pipe"],
    maxBuffer: 64 * 1024 * 1024,
    input: input ?? new Uint8Array(0),
    env: { ...process.env, DOCKER_CONFIG: join(rigHome, "config"), DOCKER_HOST: "", DOCKER_CONTEXT: "" },
  });
}

/** Docker's own program, asking the daemon under test and no other. */
export function docker(...args: readonly string[]): string {
  return run("docker", ["--host", testedHost, ...args]).trim();
}

/** Whether the daemon under test answers. */
export function answers(): boolean {
  try {
    docker("version", "--format", "{{.Server.Version}}");
    return true;
  } catch {
    return false;
  }
}

export function has(program: string): boolean {
  try {
    run("sh", ["-c", `command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
}

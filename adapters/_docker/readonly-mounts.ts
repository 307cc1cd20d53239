/** What the operator lets every command read, as it is found now: a part of its path may have become a link since. */

import { RuntimeError } from "../../src/errors.ts";
import type { Host } from "../../src/host.ts";
import { holdsAny } from "../../src/working-dir.ts";
import { parseMount } from "../docker.fragment.ts";

/** The real paths of those that are on this machine, by the path that is written. */
export type MountSources = ReadonlyMap<string, string>;

export interface MountPlaces {
  readonly written: readonly string[];
  /** The daemon's, which makes whoever can read it master of the daemon: a socket is no file that is only read. */
  readonly socket: string;
  readonly host: Host;
}

/** @throws RuntimeError with that code where one of them holds the socket. */
export async function findSources(
  { written, socket, host }: MountPlaces,
  code: "config_invalid" | "policy_unenforceable",
): Promise<MountSources> {
  const found = new Map<string, string>();
  for (const { from } of written.map(parseMount)) {
    const { kind, realPath } = await host.inspect(from);
    if (await holdsAny(realPath, [socket], host)) {
      const message = `runtime.docker.readonly_mounts: ${from} holds the daemon's socket ${socket}: name a directory that does not`;
      throw new RuntimeError(code, message, { backend: "docker" });
    }
    if (kind !== "missing") found.set(from, realPath);
  }
  return found;
}

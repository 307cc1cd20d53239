/** What of this system every sandboxed command sees: its programs, its libraries, and the larger of its settings. */

import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import type { Mount } from "./view.ts";

/** Programs and libraries (hier(7)), and the stores of Nix and Guix. */
export const systemPrograms = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/nix/store",
  "/gnu/store",
];

/** Directories of settings that are too large to be copied: which program a name stands for, and whom to trust. */
const largeSettings: readonly string[] = [
  "/etc/alternatives",
  "/etc/ssl/certs",
  "/etc/pki/tls/certs",
  "/etc/pki/ca-trust/extracted",
];

/** Where names are looked up: read where there is a network alone, and always as it is now. */
const nameServers = "/etc/resolv.conf";

/** The system's part of a view. */
export interface SystemPaths {
  readonly always: readonly Mount[];
  /** Besides, where there is a network. */
  readonly withNetwork: readonly Mount[];
}

export function findSystemPaths(): SystemPaths {
  return {
    always: [...systemPrograms, ...largeSettings].flatMap((path) => systemMount(path) ?? []),
    withNetwork: [systemMount(nameServers)].flatMap((mount) => mount ?? []),
  };
}

/** `/bin` and its like are links into `/usr` mostly, and stay links. */
function systemMount(path: string): Mount | null {
  try {
    const isLink = lstatSync(path).isSymbolicLink();
    if (isLink && systemPrograms.includes(path)) return { kind: "link", at: path, to: readlinkSync(path) };
    statSync(path);
    return { kind: "readonly", at: path, source: realpathSync.native(path), isSystem: true };
  } catch {
    // What this system does not have, or has as a link to nowhere.
    return null;
  }
}

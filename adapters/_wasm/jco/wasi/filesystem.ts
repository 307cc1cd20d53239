/** `wasi:filesystem`: the directories that a guest is given, and nothing around them. */

import { readlinkSync } from "node:fs";
import { canHold, holdPlace } from "../../../../host/held-directory.ts";
import type { Preopen } from "../run-description.ts";
import { Descriptor, DirectoryEntryStream } from "./descriptor.ts";
import { IoError } from "./streams.ts";

export function createFilesystem(preopens: readonly Preopen[]) {
  const directories = preopens.map(({ host, guest, writable }) => [openPreopen(host, writable), guest] as const);
  return {
    types: {
      Descriptor,
      DirectoryEntryStream,
      filesystemErrorCode: (error: unknown) => (error instanceof IoError ? error.code : undefined),
    },
    preopens: { getDirectories: () => [...directories] },
  };
}

/** @throws Error where a link has taken the place of a part of the path since it was decided on. */
function openPreopen(host: string, writable: boolean): Descriptor {
  const held = holdPlace(host);
  // The kernel's own name for what is held.
  if (canHold && readlinkSync(held.path) !== host) throw new Error(`${host} leads to another directory`);
  return new Descriptor({ directory: held, writable });
}

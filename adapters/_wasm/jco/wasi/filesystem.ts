/** `wasi:filesystem`: the directories that a guest is given, and nothing around them. */

import { readlinkSync } from "node:fs";
import { canHold, type HeldDirectory, holdPlace } from "../../../../host/held-directory.ts";
import type { Preopen } from "../run-description.ts";
import { Descriptor } from "./descriptor.ts";
import { DirectoryEntryStream } from "./directory-entries.ts";
import { heldAgain } from "./paths.ts";
import { IoError } from "./streams.ts";

export function createFilesystem(preopens: readonly Preopen[]) {
  const given = preopens.map(({ host, guest, writable }) => ({ held: holdPreopen(host), guest, writable }));
  return {
    types: {
      Descriptor,
      DirectoryEntryStream,
      filesystemErrorCode: (error: unknown) => (error instanceof IoError ? error.code : undefined),
    },
    preopens: {
      // A guest closes what it is handed, and may ask again.
      getDirectories: () =>
        given.map(({ held, guest, writable }) => [new Descriptor({ directory: heldAgain(held), writable }), guest]),
    },
  };
}

/** @throws Error where a link has taken the place of a part of the path since it was decided on. */
function holdPreopen(host: string): HeldDirectory {
  const held = holdPlace(host);
  // The kernel's own name for what is held.
  if (canHold && readlinkSync(held.path) !== host) throw new Error(`${host} leads to another directory`);
  return held;
}

/** Writes what a command brought out to files of this machine. */

import { writeFileSync } from "node:fs";
import { messageOf } from "../src/errors.ts";
import type { Warning } from "../src/types.ts";
import { readPair } from "./request-flags.ts";

/**
 * Writes each file to the place that its `--output` names. `all`: also those whose place is not written, to the path they
 * have in the working directory.
 *
 * @returns What could not be written; the command is over, so nothing is thrown.
 */
export function saveFiles(
  files: Readonly<Record<string, Uint8Array>>,
  flags: readonly string[],
  { all }: { readonly all: boolean },
): readonly Warning[] {
  const unsaved: Warning[] = [];
  for (const { path, hostFile, named } of flags.map(readPair)) {
    const bytes = Object.hasOwn(files, path) ? files[path] : undefined;
    if (bytes === undefined || !(named || all)) continue;
    try {
      writeFileSync(hostFile, bytes);
    } catch (error) {
      const reason = messageOf(error);
      unsaved.push({ code: "output_not_saved", message: `Output ${path} was not written to ${hostFile}: ${reason}` });
    }
  }
  return unsaved;
}

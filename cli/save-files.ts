/** Writes what a command brought out to files of this machine. */

import { closeSync, writeFileSync } from "node:fs";
import { reasonOf } from "../host/held-directory.ts";
import { openNamed } from "../host/named-files.ts";
import type { Warning } from "../src/types.ts";
import { readPair } from "./request-flags.ts";

export interface SaveOptions {
  /** Also those whose place is not written, to the path they have in the working directory. */
  readonly all: boolean;
  /** Where commands work: see `placesOfCommands`. */
  readonly places: readonly string[];
}

/**
 * Writes each file to the place that its `--output` names.
 *
 * @returns What could not be written; the command is over, so nothing is thrown.
 */
export function saveFiles(
  files: Readonly<Record<string, Uint8Array>>,
  flags: readonly string[],
  { all, places }: SaveOptions,
): readonly Warning[] {
  const unsaved: Warning[] = [];
  for (const { path, hostFile, named } of flags.map(readPair)) {
    const bytes = Object.hasOwn(files, path) ? files[path] : undefined;
    if (bytes === undefined || !(named || all)) continue;
    try {
      save(hostFile, bytes, places);
    } catch (error) {
      const reason = reasonOf(error);
      unsaved.push({ code: "output_not_saved", message: `Output ${path} was not written to ${hostFile}: ${reason}` });
    }
  }
  return unsaved;
}

function save(hostFile: string, bytes: Uint8Array, places: readonly string[]): void {
  const fd = openNamed(hostFile, places);
  try {
    writeFileSync(fd, bytes);
  } finally {
    closeSync(fd);
  }
}

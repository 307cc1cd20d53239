/** Where git looks for what is in `.git` where that is a file: in linked working trees and submodules (gitrepository-layout(5)). */

import { closeSync, constants, readSync } from "node:fs";
import { resolve } from "node:path";
import { openRegularFile } from "../../../host/held-directory.ts";
import { realPathOf } from "../real-path.ts";

/**
 * The directory that such a file names, and the one that it has in common with other working trees, by real paths, as far as
 * they are there.
 *
 * @param place by which the file is opened
 * @param directory what is relative in it starts here
 * @returns `null` for what is no such file.
 */
export function gitDirectories(place: string, directory: string): readonly string[] | null {
  const own = /^gitdir: ([^\n]+)\n*$/.exec(textOf(place) ?? "")?.[1];
  if (own === undefined) return null;
  const real = realPathOf(resolve(directory, own));
  if (real === null) return [];
  const common = textOf(resolve(real, "commondir"))?.replace(/\n+$/, "");
  const shared = common === undefined ? null : realPathOf(resolve(real, common));
  return shared === null ? [real] : [real, shared];
}

/** A path, and some words around it. */
const mostBytes = 8192;

/** `null` for what is no regular file, or cannot be read. */
function textOf(place: string): string | null {
  try {
    const fd = openRegularFile(place, constants.O_RDONLY);
    try {
      const buffer = Buffer.alloc(mostBytes);
      return buffer.toString("utf8", 0, readSync(fd, buffer, 0, buffer.length, 0));
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}

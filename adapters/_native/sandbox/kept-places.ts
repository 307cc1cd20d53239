/** Places in the working directory that a command may not change: its request's own files may not either. */

import { basename, dirname } from "node:path";
import { holdDirectory } from "../../../host/held-directory.ts";
import { nodeAt } from "./placeholder-records.ts";
import { isBelow, type Mount, type SandboxView } from "./view.ts";

/** The refusal of a file that would land in one. */
export function whyKept(path: string): string {
  return `File ${path} would change what the sandbox keeps as it is in the working directory: leave it out of the request's files`;
}

/**
 * Whether a place is kept, by the directories that lead to it and by what stands there (`nodeOf`): whatever it is called, and
 * whichever links lead to it. What is kept has to be there already.
 */
export function keptPlaces({ mounts, workingDir }: SandboxView): (nodes: readonly string[]) => boolean {
  const inside = mounts.filter(({ kind, at }) => kind !== "link" && at !== workingDir && isBelow(at, workingDir));
  if (inside.every(({ kind }) => kind === "writable")) return () => false;
  const kinds = new Map(inside.flatMap((mount) => nodeOfMount(mount) ?? []));
  return (nodes) => nodes.reduce((isKept, node) => kinds.get(node) ?? isKept, false);
}

function nodeOfMount({ at, kind }: Mount): readonly [readonly [string, boolean]] | null {
  const directory = holdDirectory(dirname(at));
  try {
    const node = nodeAt(directory.at(basename(at)));
    return node === null ? null : [[node, kind !== "writable"]];
  } finally {
    directory.close();
  }
}

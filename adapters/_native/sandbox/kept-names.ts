/** What has to hold before a command starts for that to stay as it is which is to. */

import type { NativeArtifact } from "../lower.ts";
import { refuseOtherNames } from "./kept-files.ts";
import type { Protection } from "./lower-sandbox.ts";
import { placeMissing } from "./protected-paths.ts";
import { isWritable } from "./view.ts";
import { refuseReplaced } from "./visible.ts";

/** Whose names are kept. */
export interface KeptNamesTerms {
  /** Names the execution. */
  readonly id: string;
  readonly workingDir: string;
  /** The artifact with other names than those that the operator listed. */
  readonly artifactWith: (protection: Protection) => NativeArtifact;
}

/** An artifact as it can be started. */
export interface Kept {
  readonly artifact: NativeArtifact;
  /** The execution is over. */
  remove(): void;
}

/** @throws RuntimeError `policy_unenforceable` where something could be changed all the same: nothing stays then. */
export function keepNames(artifact: NativeArtifact, { id, workingDir, artifactWith }: KeptNamesTerms): Kept {
  if (artifact.sandbox === null) return { artifact, remove: () => {} };
  const { protectedPaths, ownDirectory, view } = artifact.sandbox;
  const terms = { ownDirectory, id, isWritable: (path: string) => isWritable(path, view.mounts) };
  const { remove, ...protection } = placeMissing(workingDir, protectedPaths, terms);
  try {
    const { names, elsewhere, pins } = protection;
    const isAsListed =
      elsewhere.length === 0 && pins.length === 0 && names.every((name) => protectedPaths.includes(name));
    const started = isAsListed ? artifact : artifactWith(protection);
    const kept = [...(started.sandbox?.keptFiles ?? []), ...names.map((name) => `${workingDir}/${name}`)];
    refuseOtherNames(kept);
    if (started.sandbox !== null) refuseReplaced(started.sandbox.view);
    return { artifact: started, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

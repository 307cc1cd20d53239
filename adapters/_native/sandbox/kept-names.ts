/** What has to hold before a command starts for that to stay as it is which is to. */

import { RuntimeError } from "../../../src/errors.ts";
import type { NativeArtifact } from "../lower.ts";
import { configsIn, refuseOtherNames } from "./kept-files.ts";
import { ownsConfig, type Protection } from "./lower-sandbox.ts";
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
  const { protectedPaths, keptFiles, configTables, ownDirectory, view } = artifact.sandbox;
  const configs = configsIn(workingDir, configTables).filter(({ real }) => !keptFiles.includes(real));
  const owned = ownsConfig(view, configs);
  if (owned !== null) throw new RuntimeError("policy_unenforceable", owned, { backend: "native" });
  const terms = { ownDirectory, id, isWritable: (path: string) => isWritable(path, view.mounts) };
  const { remove, names, pins, ...placed } = placeMissing(workingDir, protectedPaths, terms);
  try {
    const elsewhere = [...placed.elsewhere, ...configs.map(({ real }) => real)];
    const isAsListed =
      elsewhere.length === 0 && pins.length === 0 && names.every((name) => protectedPaths.includes(name));
    const started = isAsListed ? artifact : artifactWith({ names, elsewhere, pins });
    const kept = [...(started.sandbox?.keptFiles ?? []), ...names.map((name) => `${workingDir}/${name}`)];
    refuseOtherNames(kept);
    if (started.sandbox !== null) refuseReplaced(started.sandbox.view);
    return { artifact: started, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** The directories of one guest: those that it is granted, held, and its working directory, with the request's files. */

import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { canHold, type HeldDirectory, holdDirectory, reasonOf } from "../../host/held-directory.ts";
import { type OwnProgram, partAround, partIn } from "../../host/own-program.ts";
import { makePrivateDirectory, removePrivateDirectory } from "../../host/private-directory.ts";
import { collectFiles, writeFiles } from "../../host/workspace-files.ts";
import { RuntimeError } from "../../src/errors.ts";
import type { CollectedFile, ExecutionPlan, GrantedDirectory, Leftover, StartIo } from "../../src/types.ts";
import type { Preopen } from "./engine.ts";
import { isAtOrBelow, isWritable, plannedPreopens, privateDirectory } from "./lower.ts";

export interface GuestDirectories {
  readonly preopens: readonly Preopen[];
  /** Where the request's files are and its outputs are taken from; `null` where there are none of either. */
  readonly own: string | null;
  /** `plan.outputs`, once the guest is over. */
  collect(): readonly CollectedFile[];
  /** Answers what is left of a private directory. */
  release(): readonly Leftover[];
}

export interface DirectoryTerms {
  readonly files: StartIo["files"];
  /** All that the backend grants: the most that any tool can be given. */
  readonly granted: readonly GrantedDirectory[];
  /** What no guest may write, because it is run outside of any engine. */
  readonly program: OwnProgram;
  /** Whether the engine can reach a directory by a descriptor of this process. */
  readonly byDescriptor: boolean;
}

/**
 * Directories are handed on by what they are, so that a guest that can write around one cannot put another in its place. Where
 * the engine cannot reach them so, by a path without links, and it is the engine's, or a sandbox's, to follow none.
 *
 * @throws RuntimeError where one is not there, or is not what is granted, or a file cannot be put into it.
 */
export function openDirectories(plan: ExecutionPlan, terms: DirectoryTerms): GuestDirectories {
  checkWorkspace(plan);
  const held: HeldDirectory[] = [];
  const hasFiles = plan.files.length + plan.outputs.length > 0;
  const made = hasFiles && plan.workspace.root === null ? makePrivateDirectory() : null;
  const own = hasFiles ? (made ?? plan.workspace.root) : null;
  const release = () => {
    for (const directory of held.splice(0)) directory.close();
    return made === null ? [] : removePrivateDirectory(made);
  };
  try {
    const preopens = plannedPreopens(plan).map((preopen) => hold(preopen, { ...terms, held, made }));
    // Only into what was found to be granted.
    if (own !== null) writeFiles(own, plan.files, { bytes: terms.files, backend: "wasm" });
    return { preopens, own, release, collect: () => (own === null ? [] : collectFiles(own, plan.outputs)) };
  } catch (error) {
    release();
    throw error;
  }
}

interface Holding extends DirectoryTerms {
  readonly held: HeldDirectory[];
  readonly made: string | null;
}

function hold(preopen: Preopen, { granted, program, byDescriptor, held, made }: Holding): Preopen {
  try {
    const isOwn = preopen.host === privateDirectory && made !== null;
    const real = realpathSync(isOwn ? made : preopen.host);
    // What a tool is granted, or a request's directory, is below what the backend grants, also where a guest has put a link since.
    if (!isOwn && !trustedPlaces(granted).some((place) => isAtOrBelow(real, place)))
      throw new Error("it leads out of what is granted");
    const part = preopen.writable ? (partAround(real, program) ?? partIn(real, program)) : null;
    if (part !== null)
      throw new Error(
        `a guest that writes there can change this program itself (${part}): grant a directory that does not hold it`,
      );
    const directory = holdDirectory(real);
    held.push(directory);
    const isHeld = byDescriptor && canHold && directory.fd !== null;
    return { ...preopen, host: isHeld ? `/proc/${process.pid}/fd/${directory.fd}` : real };
  } catch (error) {
    const message = `Directory ${preopen.host} cannot be granted to the guest: ${reasonOf(error)}`;
    throw new RuntimeError("start_failed", message, { backend: "wasm", cause: error });
  }
}

/**
 * Where the backend's grants are, by real paths. One inside of another that guests can write may have been exchanged by them for
 * a link: it is only where it is inside of that still.
 */
function trustedPlaces(granted: readonly GrantedDirectory[]): readonly string[] {
  return granted.flatMap(({ host }) => {
    const real = realPathOf(host);
    const byName = join(realPathOf(dirname(host)), basename(host));
    const around = granted.filter(
      (other) =>
        other.writable &&
        other.host !== host &&
        (isAtOrBelow(host, other.host) || isAtOrBelow(byName, realPathOf(other.host))),
    );
    return around.every((other) => isAtOrBelow(real, realPathOf(other.host))) ? [real] : [];
  });
}

/** A tool can be granted less than the backend, by whose grants the working directory was let through. */
function checkWorkspace({ workspace: { root }, grants, files, outputs }: ExecutionPlan): void {
  if (root === null) return;
  const around = grants.filter(({ host }) => isAtOrBelow(root, realPathOf(host)));
  if (around.length === 0) {
    const message = `Working directory ${root} is granted to the backend and not to this tool: name another, or grant it in the tool's capabilities`;
    throw new RuntimeError("working_dir_not_allowed", message, { backend: "wasm" });
  }
  if (files.length + outputs.length > 0 && !isWritable(root, grants)) {
    const message = `Working directory ${root} is granted to be read: leave out files and outputs, or grant it in filesystem_write`;
    throw new RuntimeError("policy_unenforceable", message, { backend: "wasm" });
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

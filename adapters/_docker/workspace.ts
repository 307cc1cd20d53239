/** A plan's directory and files on their way into a container and back. */

import process from "node:process";
import { collectFiles, writeFiles } from "../../host/workspace-files.ts";
import { messageOf, RuntimeError } from "../../src/errors.ts";
import type { CollectedFile, ExecutionPlan, FileOwner, StartIo, Warning } from "../../src/types.ts";
import type { DockerArtifact } from "./artifact.ts";
import type { ContainerCalls } from "./containers.ts";
import { packFiles, takeOutputs } from "./copied-files.ts";
import { statusOf } from "./daemon.ts";
import { type Manifest, packTree } from "./host-tree.ts";
import { tellIncomplete } from "./incomplete.ts";
import { bringBack } from "./tree-back.ts";

/** What is placed, by the way that the container has it. */
export interface Placing {
  readonly plan: ExecutionPlan;
  readonly io: StartIo;
  /** Calls the copying off. */
  readonly signal: AbortSignal;
  readonly artifact: DockerArtifact;
  readonly calls: ContainerCalls;
}

/** What was copied in, for the way back. */
export interface PlacedWorkspace {
  readonly sent: Manifest | null;
  /** Seconds since 1970. */
  readonly sentAt: number;
  /** What could not be copied. */
  readonly warnings: readonly Warning[];
}

/** @throws RuntimeError `files_failed`, naming what could not be brought in. */
export async function placeWorkspace({ plan, io, signal, artifact, calls }: Placing): Promise<PlacedWorkspace> {
  const { root } = plan.workspace;
  const owner = artifact.user ?? { uid: 0, gid: 0 };
  if (root !== null) {
    const own = canGiveAway() ? (plan.workspace.owner ?? undefined) : undefined;
    writeFiles(root, plan.files, { bytes: io.files, backend: plan.backend, owner: own });
  }
  if (artifact.reach !== "copy") return { sent: null, sentAt: 0, warnings: [] };
  const target = artifact.body.WorkingDir;
  const sent: Manifest = new Map();
  const sentAt = Date.now() / 1000;
  const failures = new Map<string, string>();
  const leftOut = (path: string, reason: string) => failures.set(path, reason);
  const tree = root === null ? null : packTree({ root, at: target, owner, leftOut }, sent);
  try {
    await calls.write(target, tree ?? packFiles(plan.files, io.files, owner), signal);
  } catch (error) {
    const message = `Files could not be copied into the container: ${messageOf(error)}`;
    throw new RuntimeError("files_failed", message, { backend: plan.backend, cause: error });
  } finally {
    tree?.destroy();
  }
  return { sent: root === null ? null : sent, sentAt, warnings: tellIncomplete(failures, "copied into the container") };
}

/** What comes back after the command and everything it began are over. Never throws. */
export async function takeBack(
  { plan, artifact, calls }: Omit<Placing, "io" | "signal">,
  { sent, sentAt, warnings: leftOut }: PlacedWorkspace,
): Promise<{ readonly files: readonly CollectedFile[]; readonly warnings: readonly Warning[] }> {
  const { root } = plan.workspace;
  const target = artifact.body.WorkingDir;
  const changed = root === null || sent === null ? [] : await changesBack({ root, sent, sentAt, plan, calls, target });
  const warnings = [...leftOut, ...changed];
  if (plan.outputs.length === 0) return { files: [], warnings };
  const files =
    artifact.reach === "mount" && root !== null
      ? collectFiles(root, plan.outputs)
      : await takeOutputs(calls, target, plan.outputs);
  return { files, warnings };
}

interface Changes {
  readonly root: string;
  readonly sent: Manifest;
  readonly sentAt: number;
  readonly plan: ExecutionPlan;
  readonly calls: ContainerCalls;
  readonly target: string;
}

async function changesBack({ root, sent, sentAt, plan, calls, target }: Changes): Promise<readonly Warning[]> {
  const owner: FileOwner | undefined = canGiveAway() ? plan.workspace.owner : undefined;
  try {
    const archive = await calls.read(target);
    try {
      return await bringBack({ archive, root, sent, sentAt, owner });
    } finally {
      archive.destroy();
    }
  } catch (error) {
    const reason = statusOf(error) === 404 ? "the container is gone" : messageOf(error);
    return [{ code: "workspace_incomplete", message: `Not all that changed was copied back to ${root}: ${reason}` }];
  }
}

/** Only root may make a file somebody else's. */
function canGiveAway(): boolean {
  return process.getuid?.() === 0;
}

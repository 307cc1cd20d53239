/** A container that is made and not begun: its image pulled where it was missing, its mounts those that were meant. */

import { isMissing } from "../../host/directory-walk.ts";
import { reasonOf } from "../../host/held-directory.ts";
import type { PlaceInUse } from "../../host/places-in-use.ts";
import { RuntimeError } from "../../src/errors.ts";
import type { ProgressFeed } from "../../src/progress-feed.ts";
import type { ExecutionPlan, Warning } from "../../src/types.ts";
import { artifactOf, type DockerArtifact, type LowerContext } from "./artifact.ts";
import { type ContainerCalls, type Created, containerCalls, createContainer } from "./containers.ts";
import type { DaemonClient } from "./daemon.ts";
import { cancelledBeforeStart, daemonFailure, imageMissing, isImageMissing, isSourceMissing } from "./failures.ts";
import { copiedWarning, nestedWarning } from "./lower.ts";
import { checkPath, lookAround, waitForMounts } from "./neighbours.ts";
import type { createPuller } from "./pull.ts";
import { isSameDirectory, type KnownMounts } from "./same-directory.ts";

export interface Making {
  readonly client: DaemonClient;
  readonly context: LowerContext;
  readonly pull: ReturnType<typeof createPuller>;
  readonly knownMounts: KnownMounts;
  readonly plan: ExecutionPlan;
  readonly signal: AbortSignal;
  readonly progress: ProgressFeed;
  /** Told as soon as there may be a container, which is then somebody's to remove. */
  readonly made: (calls: ContainerCalls) => void;
  /** Told before it is looked who else is there, so that others of this process see it. */
  readonly entered: (place: Pick<PlaceInUse, "sources" | "writable">) => void;
}

export interface Made {
  readonly calls: ContainerCalls;
  readonly artifact: DockerArtifact;
  readonly created: Created;
  /** What the lowering could not foresee. */
  readonly warnings: readonly Warning[];
}

/** @throws RuntimeError when there can be none. */
export async function makeContainer(making: Making): Promise<Made> {
  const { plan, context, client, made } = making;
  const first = artifactOf(plan, context);
  // Also where the answer is lost: a container is found by its name.
  made(containerCalls(client, first.name));
  let unforeseen: Warning;
  try {
    const container = await createOrPull(making, first);
    const why = await reasonToCopy(making, container);
    if (why === null) return { ...container, warnings: [] };
    await container.calls.remove();
    unforeseen = why;
  } catch (error) {
    if (first.reach !== "mount" || !isSourceMissing(error))
      throw daemonFailure(error, "The container could not be made");
    unforeseen = copiedWarning;
  }
  try {
    const container = await createOrPull(making, artifactOf(plan, context, "copy"));
    await reasonToCopy(making, container);
    return { ...container, warnings: [unforeseen] };
  } catch (error) {
    throw daemonFailure(error, "The container could not be made");
  }
}

async function createOrPull(making: Making, artifact: DockerArtifact): Promise<Omit<Made, "warnings">> {
  const { client, context, pull, signal, progress } = making;
  const image = artifact.body.Image;
  const create = async () => {
    const created = await createContainer(client, artifact);
    return { created, artifact, calls: containerCalls(client, created.id) };
  };
  try {
    return await create();
  } catch (error) {
    if (!isImageMissing(error)) throw error;
    if (!context.settings.auto_pull) throw imageMissing(image);
  }
  await pull({ image, platform: artifact.platform, tell: (step) => progress.tell(step), signal });
  return create();
}

/**
 * Why a directory cannot be mounted, in the words of the warning; `null` where it can, or is copied already. Settles when no
 * other container waits for a mount that this one's command could exchange.
 *
 * @throws RuntimeError where something else that is to be mounted cannot be.
 */
async function reasonToCopy(
  { client, plan, context, knownMounts, signal, entered }: Making,
  { artifact, calls }: Omit<Made, "warnings">,
): Promise<Warning | null> {
  const { root } = plan.workspace;
  const sources = artifact.body.HostConfig.Mounts.flatMap(({ Source }) => Source ?? []);
  if (root === null && sources.length === 0) return null;
  const { name, reach, body } = artifact;
  const { isLocal } = context.facts;
  entered({ sources, writable: root === null ? [] : [root] });
  const around = await lookAround(client, { name, isLocal });
  for (const [written, source] of context.sources ?? [])
    if (written !== source && (await around.canExchange(written))) throw exchangeable(written);
  for (const source of sources) {
    const isWorkspace = source === root && reach === "mount";
    if (await around.canExchange(source)) {
      if (isWorkspace) return nestedWarning;
      throw exchangeable(source);
    }
    // Only now: before, somebody could still exchange it.
    if (isLocal) checkPlace(source, isWorkspace);
  }
  if (reach === "mount" && root !== null && !(await isSameDirectory(calls, root, body.WorkingDir, knownMounts)))
    return copiedWarning;
  if (root === null || !(await around.isDisturbedBy(root))) return null;
  const check = () => {
    if (signal.aborted) throw cancelledBeforeStart();
  };
  await waitForMounts(client, { name, isLocal, directory: root, check });
  return null;
}

function checkPlace(path: string, isWorkspace: boolean): void {
  try {
    checkPath(path);
  } catch (cause) {
    // What is not here may be there on the daemon's machine, which says so where it is not.
    if (isMissing(cause)) return;
    const reason = `${path} is not where it was: ${reasonOf(cause)}`;
    const options = { backend: "docker", cause } as const;
    if (isWorkspace) throw new RuntimeError("working_dir_not_found", `Working directory ${reason}`, options);
    throw new RuntimeError("policy_unenforceable", `runtime.docker.readonly_mounts: ${reason}`, options);
  }
}

function exchangeable(path: string): RuntimeError {
  const message = `runtime.docker.readonly_mounts: ${path} is not mounted while another container can write a directory above it: wait until that is over, or name another`;
  return new RuntimeError("policy_unenforceable", message, { backend: "docker" });
}

/** A plan in the daemon's words, and what of it holds there. Pure. */

import type { ExecutionPlan, Lowering, Warning } from "../../src/types.ts";
import { artifactOf, type DockerArtifact, type LowerContext } from "./artifact.ts";
import { namesOf } from "./facts.ts";
import { describeRun } from "./run-text.ts";
import { verdictsOf } from "./verdicts.ts";

/** Stands in the result of a command whose directory is not the very one on the host. */
export const copiedWarning: Warning = {
  code: "workspace_copied",
  message: "The working directory is copied in and its changes are copied back: the daemon cannot have it as it is",
};

/** The same where a mount could be exchanged before it is made. */
export const nestedWarning: Warning = {
  code: "workspace_copied",
  message:
    "The working directory is copied in and its changes are copied back: a command that is at work in a directory above it could exchange it for another",
};

export function lowerDocker(plan: ExecutionPlan, context: LowerContext): Lowering {
  const artifact = artifactOf(plan, context);
  const { settings, facts } = context;
  return {
    artifact,
    get text() {
      return describeRun(artifact);
    },
    verdicts: verdictsOf(plan, context, artifact),
    addedEnv: addedEnv(plan, artifact, facts.imageEnv.get(plan.image ?? settings.image) ?? []),
    warnings: artifact.reach === "copy" && plan.workspace.root !== null ? [copiedWarning] : [],
  };
}

/** Pure: what a container has that nobody could tell when its plan was lowered, because its image was not there or was another. */
export function imageWarnings(
  plan: ExecutionPlan,
  artifact: DockerArtifact,
  { known, found }: { readonly known: readonly string[]; readonly found: readonly string[] },
): readonly Warning[] {
  const image = artifact.body.Image;
  const told = new Set(addedEnv(plan, artifact, known));
  const names = found.filter((name) => !told.has(name));
  if (names.length === 0) return [];
  const message = `Image ${image}, which was not known before, brings the variables ${names.join(", ")}`;
  return [{ code: "image_variables", message }];
}

function addedEnv(plan: ExecutionPlan, { body }: DockerArtifact, imageEnv: readonly string[]): readonly string[] {
  const platform = ["PATH", "HOSTNAME", ...namesOf(body.Env)];
  return [...new Set([...platform, ...imageEnv])].filter((name) => !Object.hasOwn(plan.env, name));
}

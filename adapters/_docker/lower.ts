/** A plan in the daemon's words, and what of it holds there. Pure. */

import type { ExecutionPlan, Lowering, Warning } from "../../src/types.ts";
import { artifactOf, type DockerArtifact, type LowerContext } from "./artifact.ts";
import { describeRun } from "./run-text.ts";
import { verdictsOf } from "./verdicts.ts";

export function lowerDocker(plan: ExecutionPlan, context: LowerContext): Lowering {
  const artifact = artifactOf(plan, context);
  const { settings, facts } = context;
  const warnings: Warning[] = [];
  if (artifact.reach === "copy" && plan.workspace.root !== null) {
    const message =
      "The working directory is copied in and its changes are copied back: the daemon cannot have it as it is";
    warnings.push({ code: "workspace_copied", message });
  }
  return {
    artifact,
    get text() {
      return describeRun(artifact);
    },
    verdicts: verdictsOf(plan, context, artifact),
    addedEnv: addedEnv(plan, artifact, facts.imageEnv.get(plan.image ?? settings.image) ?? []),
    warnings,
  };
}

function addedEnv(plan: ExecutionPlan, { body }: DockerArtifact, imageEnv: readonly string[]): readonly string[] {
  const platform = ["PATH", "HOSTNAME", ...body.Env.map((entry) => entry.slice(0, entry.indexOf("=")))];
  return [...new Set([...platform, ...imageEnv])].filter((name) => !Object.hasOwn(plan.env, name));
}

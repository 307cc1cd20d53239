/** What would happen, for a person's eyes: every value of the environment is hidden. */

import type { Planned } from "./plan.ts";
import type { Candidate, Explanation } from "./runtime-types.ts";
import type { ExecutionPlan, Lowering, Warning } from "./types.ts";
import { describeRefusal, type Judgement } from "./verdict.ts";

/** Stands where a value was. */
export const redacted = "<redacted>";

/** The parts of an explanation. */
export interface ExplanationParts {
  readonly planned: Planned;
  readonly lowering: Lowering;
  readonly judgement: Judgement;
  readonly warnings: readonly Warning[];
  readonly candidates: readonly Candidate[];
}

export function explainPlan({ planned, lowering, judgement, warnings, candidates }: ExplanationParts): Explanation {
  return {
    plan: redactPlan(planned.plan),
    lowering: lowering.text,
    clauses: judgement.clauses,
    refused: describeRefusal(judgement, planned.plan.backend),
    addedEnv: lowering.addedEnv,
    warnings,
    candidates,
  };
}

/** The plan without the values of its environment. */
export function redactPlan(plan: ExecutionPlan): ExecutionPlan {
  return { ...plan, env: Object.fromEntries(Object.keys(plan.env).map((name) => [name, redacted])) };
}

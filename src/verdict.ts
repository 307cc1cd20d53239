/** The rule for what cannot be enforced, once for all backends. */

import { RuntimeError } from "./errors.ts";
import type { ClauseReport } from "./runtime-types.ts";
import {
  type Clause,
  clauses,
  type ExecutionPlan,
  type Lowering,
  resourceLimitNames,
  type Verdict,
  type Warning,
} from "./types.ts";

/** What follows from a lowering's verdicts. */
export interface Judgement {
  readonly clauses: readonly ClauseReport[];
  /** The clauses that are demanded, not kept and not accepted. */
  readonly refused: readonly ClauseReport[];
  readonly warnings: readonly Warning[];
}

/**
 * A demanded clause that is weaker or impossible is refused, unless `security.accept_weaker` names it: then it is a
 * warning. A default limit of a resource that cannot be had is a warning.
 */
export function judge(plan: ExecutionPlan, lowering: Lowering): Judgement {
  const report = (clause: Clause): ClauseReport => {
    const verdict = lowering.verdicts[clause];
    const demanded = plan.demands.includes(clause);
    const accepted = isKept(verdict) || !demanded || plan.acceptWeaker.includes(clause);
    return { clause, demanded, accepted, verdict };
  };
  const unkept = clauses.filter((clause) => !isKept(lowering.verdicts[clause])).map(report);
  const warnings = unkept
    .filter(({ clause }) => asked(plan, clause))
    .map(({ clause, verdict }) => ({
      code: `weaker_${clause}`,
      message: `${sentence(clause, verdict.grade)}: ${verdict.because}`,
    }));
  return {
    // Made when somebody looks: an execution only has to know of those that are not kept.
    get clauses() {
      return clauses.map(report);
    },
    refused: unkept.filter(({ accepted }) => !accepted),
    warnings,
  };
}

function isKept({ grade }: Verdict): boolean {
  return grade === "enforced" || grade === "stronger";
}

/** @throws RuntimeError `policy_unenforceable`, naming every clause and what would let it pass. */
export function refuseUnenforceable(judgement: Judgement, backend: string): void {
  if (judgement.refused.length > 0) {
    throw new RuntimeError("policy_unenforceable", describeRefusal(judgement, backend) ?? "", { backend });
  }
}

/** The refusal in words, or `null`. */
export function describeRefusal({ refused }: Judgement, backend: string): string | null {
  if (refused.length === 0) return null;
  const parts = refused.map(({ clause, verdict }) => `${sentence(clause, verdict.grade)} (${verdict.because})`);
  const names = refused.map(({ clause }) => JSON.stringify(clause)).join(", ");
  return `Backend ${backend} cannot keep the policy: ${parts.join("; ")}. Choose another backend, drop the limit, or accept it with security.accept_weaker = [${names}]`;
}

function asked(plan: ExecutionPlan, clause: Clause): boolean {
  const limit = Object.entries(resourceLimitNames).find(([, name]) => name === clause)?.[0];
  return limit === undefined || plan.limits[limit as keyof typeof resourceLimitNames] !== null;
}

function sentence(clause: Clause, grade: string): string {
  return grade === "impossible" ? `Clause ${clause} cannot be enforced` : `Clause ${clause} would be weaker than asked`;
}

/** What cannot be enforced is refused, accepted or told: one table for the rule, one over the lowerings of the backends. */

import { describe, expect, test } from "vitest";
import { lowerNative, type NativeFacts } from "../../adapters/_native/lower.ts";
import { nativePolicy } from "../../adapters/_native/policy.ts";
import { RuntimeError } from "../../src/errors.ts";
import type { ExecuteOptions } from "../../src/runtime-types.ts";
import { type Clause, clauses, type ExecutionPlan, type Grade, type Lowering } from "../../src/types.ts";
import { describeRefusal, judge, refuseUnenforceable } from "../../src/verdict.ts";
import { allEnforced, codesOf, configOf, planOf } from "./core-parts.ts";
import { adapterOf, planFor } from "./memory-plan.ts";

const because = "Scripted";
const lowering = (clause: Clause, grade: Grade): Lowering => ({
  ...{ artifact: null, text: "", addedEnv: [], warnings: [] },
  verdicts: { ...allEnforced, [clause]: { grade, because } },
});
const allLimits = { memoryBytes: 1, cpus: 1, cpuTimeMs: 1, pids: 1, openFiles: 1 };
const noLimits = { memoryBytes: null, cpus: null, cpuTimeMs: null, pids: null, openFiles: null };

describe("the rule", () => {
  const grades: readonly Grade[] = ["enforced", "stronger", "weaker", "impossible"];
  const yesNo = [true, false];
  const rows = grades.flatMap((grade) =>
    yesNo.flatMap((demanded) => yesNo.map((accepted) => ({ grade, demanded, accepted }))),
  );

  test.each(rows)("$grade, demanded $demanded, accepted $accepted", ({ grade, demanded, accepted }) => {
    const kept = grade === "enforced" || grade === "stronger";
    for (const clause of clauses) {
      const plan = planFor(["true"], {
        demands: demanded ? [clause] : [],
        acceptWeaker: accepted ? [clause] : [],
        limits: { ...planFor(["true"]).limits, ...allLimits },
      });
      const { refused, warnings, clauses: reports } = judge(plan, lowering(clause, grade));
      expect(refused.map((report) => report.clause)).toEqual(!kept && demanded && !accepted ? [clause] : []);
      expect(codesOf(warnings)).toEqual(kept ? [] : [`weaker_${clause}`]);
      expect(reports.map((report) => report.clause)).toEqual(clauses);
      expect(reports.find((report) => report.clause === clause)).toEqual({
        ...{ clause, demanded, accepted: kept || !demanded || accepted, verdict: { grade, because } },
      });
    }
  });

  test("a limit that nobody asks for is no news; isolation always is", () => {
    const plan = planFor(["true"], { limits: { ...planFor(["true"]).limits, ...noLimits } });
    for (const clause of clauses) {
      const isIsolation = ["network", "filesystem", "privilege", "environment"].includes(clause);
      expect(codesOf(judge(plan, lowering(clause, "impossible")).warnings)).toEqual(
        isIsolation ? [`weaker_${clause}`] : [],
      );
    }
  });

  test("accepting one clause accepts no other", () => {
    const plan = planFor(["true"], { demands: ["network", "memory"], acceptWeaker: ["network", "pids"] });
    const both = { ...lowering("network", "weaker").verdicts, memory: { grade: "weaker", because } as const };
    const { refused } = judge(plan, { ...lowering("network", "weaker"), verdicts: both });
    expect(refused.map(({ clause }) => clause)).toEqual(["memory"]);
  });
});

describe("the words", () => {
  const plan = planFor(["true"], { demands: ["network", "pids"], limits: { ...planFor(["true"]).limits, pids: 1 } });
  const weak = lowering("network", "impossible");
  const judgement = judge(plan, { ...weak, verdicts: { ...weak.verdicts, pids: { grade: "weaker", because } } });

  test("of a refusal name backend, clauses, reasons and every way out", () => {
    const message = describeRefusal(judgement, "native");
    expect(message).toBe(
      "Backend native cannot keep the policy: Clause network cannot be enforced (Scripted); Clause pids would be weaker than asked (Scripted). " +
        'Choose another backend, drop the limit, or accept it with security.accept_weaker = ["network", "pids"]',
    );
    const attempt = () => refuseUnenforceable(judgement, "native");
    expect(attempt).toThrow(RuntimeError);
    expect(attempt).toThrow(expect.objectContaining({ code: "policy_unenforceable", backend: "native", message }));
  });

  test("of a warning say what it is", () => {
    expect(judgement.warnings.map(({ message }) => message)).toEqual([
      "Clause network cannot be enforced: Scripted",
      "Clause pids would be weaker than asked: Scripted",
    ]);
  });

  test("are none where nothing is refused", () => {
    const kept = judge(planFor(["true"]), lowering("network", "enforced"));
    expect(describeRefusal(kept, "native")).toBeNull();
    expect(refuseUnenforceable(kept, "native")).toBeUndefined();
  });
});

describe("the lowerings held against each other", () => {
  const facts = (held: boolean, prlimit: string | null): NativeFacts => ({
    platform: "linux",
    containment: {
      ...{ kind: held ? "cgroup" : "process-group", description: held ? "cgroup v1" : "process group" },
      ...{ holdsDaemons: held, can: { memoryBytes: held, pids: held, cpuTimeMs: held } },
    },
    prlimit,
  });
  const memoryLower = async (plan: ExecutionPlan) => (await adapterOf({ programs: {} })).lower(plan);
  const backends: Readonly<Record<string, (plan: ExecutionPlan) => Lowering | Promise<Lowering>>> = {
    "native, cgroup": (plan) => lowerNative(plan, facts(true, "/usr/bin/prlimit")),
    "native, group": (plan) => lowerNative(plan, facts(false, "/usr/bin/prlimit")),
    "native, bare": (plan) => lowerNative(plan, facts(false, null)),
    memory: memoryLower,
  };
  const names = Object.keys(backends);

  /** By backend, in the order of {@link backends}: e enforced, w weaker, i impossible. */
  const table: readonly (readonly [Clause, ExecuteOptions, string])[] = [
    ["network", {}, "eeee"],
    ["network", { network: "none" }, "iiie"],
    ["network", { network: "cluster" }, "iiie"],
    ["filesystem", {}, "eeee"],
    ["privilege", {}, "eeee"],
    ["environment", { env: { A: "1" } }, "eeee"],
    ["cpu", {}, "eeee"],
    ["cpu", { limits: { cpus: 1 } }, "iiie"],
    ["cpu_time", {}, "eeee"],
    ["cpu_time", { limits: { cpuTimeMs: 1000 } }, "ewie"],
    ["memory", {}, "eeee"],
    ["memory", { limits: { memoryBytes: 1 } }, "eiie"],
    ["pids", {}, "eeee"],
    ["pids", { limits: { pids: 1 } }, "eiie"],
    ["files", {}, "eeee"],
    ["files", { limits: { openFiles: 1 } }, "eeie"],
  ];

  test.each(table)("%s of %j", async (clause, options, expected) => {
    const { plan } = await planOf({ options, policy: nativePolicy(configOf(), "linux") });
    const found: string[] = [];
    for (const name of names) {
      const lowered = (await backends[name]?.(plan)) as Lowering;
      const { grade, because: reason } = lowered.verdicts[clause];
      found.push(grade.charAt(0));
      expect(reason).toMatch(/^[A-Z].*[^.]$/);
      const { refused } = judge(plan, lowered);
      expect(refused.map((report) => report.clause)).toEqual(grade === "enforced" ? [] : [clause]);
    }
    expect(found.join("")).toBe(expected);
  });

  test("every lowering has a word on every clause, is pure, and shows no value of the environment", async () => {
    const env = { API_KEY: "s3cret", B: "s3cret" };
    const { plan } = await planOf({ options: { env, limits: { ...allLimits, cpuTimeMs: 1500 } } });
    for (const name of names) {
      const one = (await backends[name]?.(plan)) as Lowering;
      expect(await backends[name]?.(plan)).toEqual(one);
      expect(Object.keys(one.verdicts).sort()).toEqual([...clauses].sort());
      expect(one.text).not.toContain("s3cret");
      expect(one.text).toContain("API_KEY");
      expect(JSON.parse(JSON.stringify(one.artifact))).toEqual(one.artifact);
    }
  });

  test("a narrower isolation than a local process has is impossible for it", () => {
    const plan = planFor(["true"], { filesystem: "workspace", privilege: "none" });
    const { verdicts } = lowerNative(plan, facts(true, null));
    expect([verdicts.filesystem.grade, verdicts.privilege.grade]).toEqual(["impossible", "impossible"]);
  });
});

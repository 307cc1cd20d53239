/** Policies narrow each other, in every order and for every wish, and none widens. */

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { narrowLimit, narrowLimits, narrowMode } from "../../src/narrow.ts";
import type { RequestedLimits } from "../../src/runtime-types.ts";
import { type NetworkMode, type ResourceLimits, resourceLimitNames } from "../../src/types.ts";
import { codesOf, planOf } from "./core-parts.ts";

const names = Object.keys(resourceLimitNames) as (keyof ResourceLimits)[];
const modes: readonly NetworkMode[] = ["none", "cluster", "all"];
const rank = (mode: NetworkMode) => modes.indexOf(mode);
/** 0 stands for no limit. */
const time = (milliseconds: number) => (milliseconds === 0 ? Number.POSITIVE_INFINITY : milliseconds);

const amount = fc.integer({ min: 1, max: 1000 });
const mode = fc.constantFrom(...modes);
const seconds = fc.integer({ min: 0, max: 100 });
const wishes = fc.record(
  { memoryBytes: amount, cpus: amount, cpuTimeMs: amount, pids: amount, openFiles: amount },
  { requiredKeys: [] },
);
const operatorLimits = fc.record({
  memoryBytes: fc.option(amount),
  cpus: fc.option(amount),
  cpuTimeMs: fc.option(amount),
  pids: fc.option(amount),
  openFiles: fc.option(amount),
});
/** The configuration itself refuses a default above the maximum; a backend may have a default of its own. */
const operator = fc
  .record({
    limits: operatorLimits,
    written: fc.subarray(Object.values(resourceLimitNames)),
    network: mode,
    defaultSeconds: seconds,
    backendDefaultMs: fc.option(amount, { nil: undefined }),
    maxSeconds: seconds,
    cap: amount,
  })
  .filter(({ defaultSeconds, maxSeconds }) => time(defaultSeconds) <= time(maxSeconds));
const wish = fc.record(
  { limits: wishes, network: mode, timeoutMs: seconds.map((value) => value * 1000), maxOutputBytes: amount },
  { requiredKeys: [] },
);

type Operator = typeof operator extends fc.Arbitrary<infer Value> ? Value : never;
type Wish = typeof wish extends fc.Arbitrary<infer Value> ? Value : never;

function planWith(operator: Operator, tool: Wish, request: Wish) {
  const { limits, written, network, defaultSeconds, backendDefaultMs, maxSeconds, cap } = operator;
  return planOf({
    config: {
      runtime: { default_timeout_secs: defaultSeconds, max_timeout_secs: maxSeconds, max_output_bytes: cap },
    },
    policy: {
      limits,
      written,
      network,
      ...(backendDefaultMs === undefined ? {} : { defaultTimeoutMs: backendDefaultMs }),
    },
    tool: { ...tool, limits: tool.limits ?? {} },
    options: request,
  });
}

describe("a plan is never wider than anybody's policy", () => {
  test("limits: the least that anybody asks for, and none where nobody asks", async () => {
    await fc.assert(
      fc.asyncProperty(operator, wish, wish, async (given, tool, request) => {
        const { plan } = await planWith(given, tool, request);
        for (const name of names) {
          const asked = [given.limits[name], tool.limits?.[name], request.limits?.[name]].filter((one) => one != null);
          expect(plan.limits[name]).toBe(asked.length === 0 ? null : Math.min(...asked));
        }
      }),
    );
  });

  test("network: the narrowest that anybody asks for", async () => {
    await fc.assert(
      fc.asyncProperty(operator, wish, wish, async (given, tool, request) => {
        const { plan } = await planWith(given, tool, request);
        const asked = [given.network, tool.network ?? "all", request.network ?? "all"];
        expect(rank(plan.network)).toBe(Math.min(...asked.map(rank)));
      }),
    );
  });

  test("output cap: the least of all", async () => {
    await fc.assert(
      fc.asyncProperty(operator, wish, wish, async (given, tool, request) => {
        const { plan } = await planWith(given, tool, request);
        const asked = [given.cap, tool.maxOutputBytes ?? given.cap, request.maxOutputBytes ?? given.cap];
        expect(plan.limits.maxOutputBytes).toBe(Math.min(...asked));
      }),
    );
  });

  test("time: the request's, else the tool's, else the default, and never above the tool's or the maximum; 0 is no limit", async () => {
    await fc.assert(
      fc.asyncProperty(operator, wish, wish, async (given, tool, request) => {
        const { limits } = (await planWith(given, tool, request)).plan;
        const ceiling = Math.min(time(tool.timeoutMs ?? 0), time(given.maxSeconds * 1000));
        const asked = request.timeoutMs ?? tool.timeoutMs ?? given.backendDefaultMs ?? given.defaultSeconds * 1000;
        expect(time(limits.timeoutMs)).toBe(Math.min(time(asked), ceiling));
        if (limits.timeoutMs === 0) expect(limits.backstopMs).toBe(0);
        else expect(limits.backstopMs).toBeGreaterThan(limits.timeoutMs + limits.killGraceMs);
      }),
    );
  });

  test("demands: isolation always, and whatever anybody asked for", async () => {
    await fc.assert(
      fc.asyncProperty(operator, wish, wish, async (given, tool, request) => {
        const { plan } = await planWith(given, tool, request);
        const asked = [...Object.keys(tool.limits ?? {}), ...Object.keys(request.limits ?? {})] as typeof names;
        const clauses = [...given.written, ...asked.map((name) => resourceLimitNames[name])];
        const isolation = ["network", "filesystem", "privilege", "environment"];
        expect(new Set(plan.demands)).toEqual(new Set([...isolation, ...clauses]));
        expect(plan.demands.length).toBe(new Set(plan.demands).size);
      }),
    );
  });
});

describe("a request is told of what it did not get", () => {
  test("exactly the wishes that were cut carry a warning", async () => {
    await fc.assert(
      fc.asyncProperty(operator, wish, wish, async (given, tool, request) => {
        const { plan, warnings } = await planWith(given, tool, request);
        const { limits } = plan;
        const cut = [
          ...names.filter((name) => (request.limits?.[name] ?? 0) > (limits[name] ?? 0)),
          ...(time(request.timeoutMs ?? 1) > time(limits.timeoutMs) && request.timeoutMs !== undefined ? ["time"] : []),
          ...((request.maxOutputBytes ?? 0) > limits.maxOutputBytes ? ["cap"] : []),
          ...(rank(request.network ?? "none") > rank(plan.network) ? ["network"] : []),
        ];
        expect(codesOf(warnings)).toEqual(cut.map(() => "narrowed"));
      }),
    );
  });

  test("the warning says what was asked, what is given and who decided", async () => {
    const config = { runtime: { max_timeout_secs: 2, max_output_bytes: 10 } };
    const limits = { memoryBytes: 5, cpus: null, cpuTimeMs: null, pids: null, openFiles: null };
    const options = { timeoutMs: 0, maxOutputBytes: 11, network: "all", limits: { memoryBytes: 6 } } as const;
    const { warnings } = await planOf({ config, policy: { network: "cluster", limits }, options });
    const most = "the most that tool and operator allow";
    expect(warnings.map(({ message }) => message)).toEqual([
      `Limit memoryBytes narrowed from 6 to 5, ${most}`,
      `Time limit narrowed from none to 2000 ms, ${most}`,
      `Output cap narrowed from 11 to 10 bytes, ${most}`,
      `Network narrowed from all to cluster, ${most}`,
    ]);
  });

  test("asking for exactly what a plan gives changes nothing and warns of nothing", async () => {
    await fc.assert(
      fc.asyncProperty(operator, wish, wish, async (given, tool, request) => {
        const { plan } = await planWith(given, tool, request);
        const limits = Object.fromEntries(
          names.flatMap((name) => (plan.limits[name] ? [[name, plan.limits[name]]] : [])),
        );
        const { timeoutMs, maxOutputBytes } = plan.limits;
        const again = await planWith(given, tool, { limits, timeoutMs, maxOutputBytes, network: plan.network });
        expect(again.plan.limits).toEqual(plan.limits);
        expect(again.plan.network).toBe(plan.network);
        expect(again.warnings).toEqual([]);
      }),
    );
  });
});

describe("narrowing is a meet: order and repetition do not count", () => {
  const some = fc.option(amount);

  test("one limit", () => {
    fc.assert(
      fc.property(some, some, some, (a, b, c) => {
        expect(narrowLimit(narrowLimit(a, b), c)).toBe(narrowLimit(a, narrowLimit(b, c)));
        expect(narrowLimit(a, b)).toBe(narrowLimit(b, a));
        expect(narrowLimit(a, a)).toBe(a);
        expect(narrowLimit(a, undefined)).toBe(a);
      }),
    );
  });

  test("all limits: step by step as at once, in any order", () => {
    const all = (base: ResourceLimits, ...by: readonly RequestedLimits[]) => {
      const { limits, written } = narrowLimits(base, [], by);
      return { limits, written: new Set(written) };
    };
    fc.assert(
      fc.property(operatorLimits, wishes, wishes, (base, one, other) => {
        const first = narrowLimits(base, [], [one]);
        const { limits, written } = narrowLimits(first.limits, first.written, [other]);
        expect({ limits, written: new Set(written) }).toEqual(all(base, one, other));
        expect(all(base, other, one)).toEqual(all(base, one, other));
        expect(all(base, one, one)).toEqual(all(base, one));
      }),
    );
  });

  test("a mode", () => {
    fc.assert(
      fc.property(mode, mode, mode, (a, b, c) => {
        expect(narrowMode(modes, narrowMode(modes, a, b), c)).toBe(narrowMode(modes, a, narrowMode(modes, b, c)));
        expect(narrowMode(modes, a, b)).toBe(narrowMode(modes, b, a));
        expect(narrowMode(modes, a, a, undefined)).toBe(a);
      }),
    );
  });
});

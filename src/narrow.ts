/** How policies meet: each can narrow the one before it and none can widen it. */

import type { RequestedLimits } from "./runtime-types.ts";
import { type ResourceClause, type ResourceLimits, resourceLimitNames, type Warning } from "./types.ts";

/** The smaller of two limits of a resource; `null` and `undefined` ask for none. */
export function narrowLimit(limit: number | null, by: number | null | undefined): number | null {
  if (by === null || by === undefined) return limit;
  return limit === null ? by : Math.min(limit, by);
}

/** Limits after all who may narrow them, and the clauses that somebody asked for. */
export function narrowLimits(
  base: ResourceLimits,
  written: readonly ResourceClause[],
  by: readonly (RequestedLimits | undefined)[],
): { readonly limits: ResourceLimits; readonly written: readonly ResourceClause[] } {
  const limits = { ...base };
  const asked = new Set(written);
  for (const name of Object.keys(resourceLimitNames) as (keyof ResourceLimits)[]) {
    for (const wish of by) {
      if (wish?.[name] === undefined) continue;
      limits[name] = narrowLimit(limits[name], wish[name]);
      asked.add(resourceLimitNames[name]);
    }
  }
  return { limits, written: [...asked] };
}

/** Tells a request which of its limits were cut. */
export function warnOfCutLimits(
  request: RequestedLimits | undefined,
  limits: ResourceLimits,
  warnings: Warning[],
): void {
  for (const name of Object.keys(resourceLimitNames) as (keyof ResourceLimits)[]) {
    const asked = request?.[name];
    const given = limits[name];
    if (asked !== undefined && given !== null && asked > given)
      warnings.push(narrowed(`Limit ${name}`, asked, `${given}`));
  }
}

/** What a request is told that got less than it asked for. */
export function narrowed(what: string, from: string | number, to: string): Warning {
  return { code: "narrowed", message: `${what} narrowed from ${from} to ${to}, the most that tool and operator allow` };
}

/**
 * A time limit: the request's, else the tool's, else the default; never above the tool's or the operator's maximum.
 * 0 means no limit, so it is the widest.
 */
export function narrowTimeout(
  {
    request,
    tool,
    fallback,
    max,
  }: { request?: number | undefined; tool?: number | undefined; fallback: number; max: number },
  warnings: Warning[],
): number {
  const asked = request ?? tool ?? fallback;
  const ceiling = Math.min(tool === undefined ? Number.POSITIVE_INFINITY : widest(tool), widest(max));
  if (widest(asked) <= ceiling) return asked;
  if (request !== undefined) {
    warnings.push(narrowed("Time limit", request === 0 ? "none" : `${request} ms`, `${ceiling} ms`));
  }
  return ceiling;
}

function widest(milliseconds: number): number {
  return milliseconds === 0 ? Number.POSITIVE_INFINITY : milliseconds;
}

/** The output cap: the least of all. A request above it is told so. */
export function narrowCap(
  { request, tool, operator }: { request?: number | undefined; tool?: number | undefined; operator: number },
  warnings: Warning[],
): number {
  const ceiling = Math.min(operator, tool ?? operator);
  if (request === undefined) return ceiling;
  if (request > ceiling) warnings.push(narrowed("Output cap", request, `${ceiling} bytes`));
  return Math.min(request, ceiling);
}

/** The narrowest of several modes, given all of them from the narrowest to the widest. */
export function narrowMode<Mode extends string>(order: readonly Mode[], ...modes: readonly (Mode | undefined)[]): Mode {
  const ranks = modes.filter((mode) => mode !== undefined).map((mode) => order.indexOf(mode));
  return order[Math.min(...ranks)] as Mode;
}

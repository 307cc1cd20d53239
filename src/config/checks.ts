/** Rules between keys: the core's own, and the fragments'. */

import * as v from "valibot";
import type { AnyFragment, FragmentCheck } from "./fragment.ts";
import { dotted, type Path, type Problem, spelled } from "./problems.ts";
import { type Config, defaultTimeoutSecs } from "./schema.ts";

export interface CheckSources {
  readonly config: Config;
  readonly fragments: readonly AnyFragment[];
  readonly spellings: ReadonlyMap<string, Path>;
  /** Canonical names of the keys that somebody wrote. */
  readonly written: ReadonlySet<string>;
}

/** What is wrong with keys each of which is right by itself. */
export function checkConfig(sources: CheckSources): Problem[] {
  const problems: Problem[] = [];
  const report = (path: Path, message: string) => {
    problems.push({ path: spelled(path, sources.spellings), message });
  };
  checkMaxima(sources, report);
  for (const part of sources.fragments) checkFragment(part, sources, report);
  return problems;
}

type Table = Readonly<Record<string, unknown>>;
type Report = (path: Path, message: string) => void;

/** What is written above its maximum would be cut down in silence. A default above it is narrowed, as documented. */
function checkMaxima({ config }: CheckSources, report: Report): void {
  const { default_timeout_secs, max_timeout_secs, max_output_bytes } = config.runtime;
  const tooLong = (secs: number | undefined) => max_timeout_secs > 0 && secs !== undefined && secs > max_timeout_secs;
  const longest = `It is more than runtime.max_timeout_secs, which is ${max_timeout_secs}: lower it, or raise the maximum`;
  if (default_timeout_secs !== defaultTimeoutSecs && tooLong(default_timeout_secs))
    report(["runtime", "default_timeout_secs"], longest);
  for (const [name, tool] of Object.entries(config.tools.custom)) {
    if (tooLong(tool.timeout_secs)) report(["tools", "custom", name, "timeout_secs"], longest);
    if (tool.max_output_bytes !== undefined && tool.max_output_bytes > max_output_bytes) {
      const most = `It is more than runtime.max_output_bytes, which is ${max_output_bytes}: lower it, or raise the maximum`;
      report(["tools", "custom", name, "max_output_bytes"], most);
    }
  }
}

function checkFragment(part: AnyFragment, { config, written }: CheckSources, report: Report): void {
  if (part.check === undefined) return;
  const path = part.place === "runtime" ? ["runtime", part.name] : [part.name];
  const tools = config.tools.custom;
  const isChosen =
    part.place === "runtime" && [config.runtime, ...Object.values(tools)].some(({ backend }) => backend === part.name);
  const values = path.reduce<unknown>((table, step) => (table as Table)[step], config) as Table;
  const defaultOf = (key: string) => (v.parse(part.schema, {}) as Table)[key];
  const check: FragmentCheck<unknown> = {
    values,
    tools,
    chosen: isChosen,
    isChanged: (key) =>
      written.has(dotted([...path, key])) && JSON.stringify(values[key]) !== JSON.stringify(defaultOf(key)),
    maxTimeoutSecs: config.runtime.max_timeout_secs,
    report: (below, message) => report([...path, ...below], message),
    reportTool: (tool, below, message) => report(["tools", "custom", tool, ...below], message),
  };
  part.check(check as FragmentCheck<never>);
}

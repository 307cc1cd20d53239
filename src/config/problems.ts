/** What is wrong with a configuration, told by table and key, all of it at once. */

import type * as v from "valibot";
import { RuntimeError } from "../errors.ts";
import { factsOf, isTable, schemaAt } from "./shape.ts";
import type { Schema } from "./values.ts";

/** The way to a key: names, and numbers within lists. */
export type Path = readonly PropertyKey[];

/** One thing that is wrong, and where. */
export interface Problem {
  readonly path: Path;
  /** Begins with a capital and says what to do. */
  readonly message: string;
  /** The path is a table's, not a key's. */
  readonly table?: boolean;
  /** The wrong value, where it may be repeated. */
  readonly shown?: string;
}

/** A key's name as TOML spells it: bare where it can be. */
export function spellKey(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
}

/** A key's full name, in the spelling of {@link spellKey}. */
export function dotted(path: Path): string {
  return path.reduce<string>((name, step) => {
    if (typeof step === "number") return `${name}[${step}]`;
    return name === "" ? spellKey(String(step)) : `${name}.${spellKey(String(step))}`;
  }, "");
}

/** The error that lists every problem, one a line. */
export function configError(problems: readonly Problem[], origin: string): RuntimeError {
  const lines = new Set(problems.map(line).toSorted());
  const count = lines.size === 1 ? "a problem" : `${lines.size} problems`;
  return new RuntimeError("config_invalid", [`Correct ${count} in ${origin}:`, ...lines].join("\n  "));
}

function line({ path, message, table, shown }: Problem): string {
  const value = shown === undefined ? "" : ` = ${shown}`;
  if (path.length === 0) return message;
  if (table === true) return `[${dotted(path)}]: ${message}`;
  // Within a list everything belongs to the list's key.
  const list = path.findIndex((step) => typeof step === "number");
  const end = (list === -1 ? path.length : list) - 1;
  const above = path.slice(0, end);
  return `${above.length === 0 ? "" : `[${dotted(above)}] `}${dotted(path.slice(end))}${value}: ${message}`;
}

/** What the schema found, in our words. `spellings` has the path under which somebody wrote a key, where it is another. */
export function problemsOf(
  issues: readonly v.BaseIssue<unknown>[],
  { schema, values, spellings }: { schema: Schema; values: unknown; spellings: ReadonlyMap<string, Path> },
): Problem[] {
  return issues.map((issue) => {
    const canonical = (issue.path ?? []).map(({ key }) => key as PropertyKey);
    const path = spelled(canonical, spellings);
    if (issue.received === "undefined") return { path, message: "Missing: this key is required here" };
    if (issue.path?.at(-1)?.origin === "key") return { path, message: issue.message };
    const secret = isSecret(schema, canonical, values);
    return secret ? { path, message: issue.message } : { path, message: issue.message, shown: show(issue.input) };
  });
}

/** The path under which somebody wrote what has the canonical path. */
export function spelled(path: Path, spellings: ReadonlyMap<string, Path>): Path {
  for (let end = path.length; end > 0; end--) {
    const spelling = spellings.get(dotted(path.slice(0, end)));
    if (spelling !== undefined) return [...spelling, ...path.slice(end)];
  }
  return path;
}

/** Whether a value, or the table it is in, must not be repeated. */
function isSecret(schema: Schema, path: Path, values: unknown): boolean {
  return path.some((_, index) => {
    const found = schemaAt(schema, path.slice(0, index + 1), values);
    const facts = found === undefined ? {} : factsOf(found);
    return facts.secret === true || facts.unquoted === true;
  });
}

/** A wrong value, short enough for a line. */
export function show(value: unknown): string {
  if (isTable(value)) return "{…}";
  if (Array.isArray(value)) return "[…]";
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === "object" && value !== null) return "a date or another object";
  return typeof value === "function" ? "a function" : String(value);
}

/** From what somebody wrote to canonical keys: other spellings resolved, unknown names refused, nothing lost in silence. */

import { nearest } from "../nearest.ts";
import { aliasesOf, findKey, refuseOthers } from "./aliases.ts";
import { dotted, type Path, type Problem, show } from "./problems.ts";
import { factsOf, isTable, type Shape, shapeOf } from "./shape.ts";
import { adviceFor } from "./suggest.ts";
import type { Schema } from "./values.ts";

/** What is noted down on the way through the tables. */
export interface Notes {
  readonly root: Schema;
  readonly problems: Problem[];
  /** Canonical names of the keys that were written. */
  readonly written: Set<string>;
  readonly toolNames: Set<string>;
  /** The path under which a key was written, by its canonical name. */
  readonly spellings: Map<string, Path>;
}

/** A part of the configuration, and where it stands. */
export interface Place {
  readonly schema: Schema;
  readonly input: unknown;
  readonly path: Path;
  /** The table's own name, operators' names replaced by `<name>`. */
  readonly at: string;
  /** Keys that are read by the table above. */
  readonly apart: readonly string[];
}

/** Names that an object cannot carry without meaning something else by them. */
const unsafe: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
/** In the place of a value that was refused already. */
const refused = Symbol("refused");

/** Reads a whole configuration into canonical keys. Throws nothing: every problem is in the notes. */
export function readConfig(root: Schema, input: unknown): { readonly values: unknown; readonly notes: Notes } {
  const notes: Notes = { root, problems: [], written: new Set(), toolNames: new Set(), spellings: new Map() };
  return { values: readValue({ schema: root, input, path: [], at: "", apart: [] }, notes), notes };
}

function readValue(place: Place, notes: Notes): unknown {
  const { schema, input, path } = place;
  const shape = shapeOf(schema);
  // Lists, dates and instances of classes pass for objects: what is no table is refused here.
  if (shape.kind !== "value" && shape.kind !== "list" && !isTable(input)) {
    const shown = factsOf(schema).secret === true ? {} : { shown: show(input) };
    notes.problems.push({ path, message: "Give a table", ...shown });
    return refused;
  }
  if (shape.kind === "table") return readTable(place, notes);
  if (shape.kind === "named")
    return readNamed({ ...place, schema: shape.values }, notes, factsOf(schema).namesTools === true);
  if (shape.kind === "choice") return readChoice(shape, place, notes);
  // A table in a list is a part of the list's value, not a table whose keys have names.
  if (!path.some((step) => typeof step === "number")) notes.written.add(dotted(path));
  if (shape.kind !== "list" || !Array.isArray(input)) return input;
  const items = input.map((item: unknown, index) =>
    readValue({ ...place, schema: shape.items, input: item, path: [...path, index] }, notes),
  );
  return items.filter((item) => item !== refused);
}

function readTable(place: Place, notes: Notes): unknown {
  const { schema, input, path, at, apart } = place;
  const shape = shapeOf(schema);
  if (shape.kind !== "table" || !isTable(input)) return input;
  const values: Record<string, unknown> = Object.create(null);
  const aliases = aliasesOf(shape.entries.values());
  for (const [name, entry] of shape.entries) {
    const found = findKey(name, { entry, input, path }, notes);
    if (found === undefined) continue;
    const below = aliases.get(name)?.flatMap((second) => second ?? []) ?? [];
    const next: Place = {
      schema: entry,
      input: found,
      path: [...path, name],
      at: at === "" ? name : `${at}.${name}`,
      apart: below,
    };
    const value = readValue(next, notes);
    if (value !== refused) values[name] = value;
  }
  for (const name of Object.keys(input)) {
    if (input[name] === undefined || shape.entries.has(name) || apart.includes(name)) continue;
    const others = aliases.get(name);
    if (others === undefined) refuseUnknown(name, place, notes);
    else refuseOthers(input[name], { path: [...path, name], others }, notes);
  }
  return values;
}

function readNamed(place: Place, notes: Notes, areTools: boolean): unknown {
  const { input, path, at } = place;
  if (!isTable(input)) return input;
  const values: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue;
    if (unsafe.has(name)) {
      notes.problems.push({ path: [...path, name], message: "This name cannot be used: choose another" });
      continue;
    }
    if (areTools) notes.toolNames.add(name);
    const read = readValue({ ...place, input: value, path: [...path, name], at: `${at}.<name>` }, notes);
    if (read !== refused) values[name] = read;
  }
  return values;
}

function readChoice({ by, options }: Extract<Shape, { kind: "choice" }>, place: Place, notes: Notes): unknown {
  const { input, path } = place;
  if (!isTable(input)) return input;
  const wanted = Object.hasOwn(input, by) ? input[by] : undefined;
  const chosen = options.find(({ value }) => value === wanted);
  if (chosen !== undefined) return readTable({ ...place, schema: chosen.schema }, notes);
  const names = options.map(({ value }) => value);
  const near = typeof wanted === "string" ? nearest(wanted, names) : undefined;
  const choice = `one of ${names.map((name) => `"${name}"`).join(", ")}${near === undefined ? "" : `; the nearest is "${near}"`}`;
  const problem =
    wanted === undefined
      ? { message: `Missing: give ${choice}` }
      : { message: `Choose ${choice}`, shown: show(wanted) };
  notes.problems.push({ path: [...path, by], ...problem });
  return refused;
}

function refuseUnknown(name: string, { schema, input, path, at }: Place, notes: Notes): void {
  const table = isTable(input) && isTable(input[name]);
  const advice = adviceFor({ name, table: schema, root: notes.root, at, isTable: table });
  notes.problems.push({ path: [...path, name], table, message: `Unknown ${table ? "table" : "key"}: ${advice}` });
}

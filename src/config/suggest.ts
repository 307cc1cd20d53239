/** What to do about a key that is not known: the nearest right name, or the table where it belongs. */

import { nearest, sameName } from "../nearest.ts";
import { factsOf, shapeOf } from "./shape.ts";
import type { Schema } from "./values.ts";

/** Where a key stands that is not known. */
export interface Unknown {
  readonly name: string;
  /** The schema of the table that it is in, and of the whole file. */
  readonly table: Schema;
  readonly root: Schema;
  /** Its table's own name, operators' names replaced by `<name>`; empty at the top. */
  readonly at: string;
  /** Whether a table was written under the name. */
  readonly isTable: boolean;
}

/** One sentence, without a full stop, to stand after a colon. */
export function adviceFor({ name, table, root, at, isTable }: Unknown): string {
  const near = nearest(name, namesIn(table));
  const elsewhere = tablesWith(name, root).filter((other) => other !== at);
  const advice = near === undefined ? [] : [`the nearest right name is ${near}`];
  if (elsewhere.length > 0) {
    const places = elsewhere
      .slice(0, 4)
      .map((place) => (isTable ? header(place === "" ? name : `${place}.${name}`) : header(place)));
    advice.push(isTable ? `write ${places.join(" or ")}` : `${name} belongs in ${places.join(" or ")}`);
  }
  if (advice.length > 0) return advice.join("; ");
  const known = namesIn(table);
  return known.length === 0 ? "this table has no keys" : `choose one of ${known.join(", ")}, or leave it out`;
}

function header(table: string): string {
  return table === "" ? "the top level" : `[${table}]`;
}

/** Every name that is right in a table: its keys and their other spellings. */
function namesIn(table: Schema): string[] {
  const shape = shapeOf(table);
  if (shape.kind !== "table") return [];
  const names = [...shape.entries].flatMap(([name, entry]) => [
    name,
    ...(factsOf(entry).aliases ?? []).map(({ path }) => path[0]),
  ]);
  return [...new Set(names)];
}

/** The tables in which a name is right. */
function tablesWith(name: string, root: Schema): string[] {
  const found = new Set<string>();
  const visit = (schema: Schema, path: string): void => {
    const shape = shapeOf(schema);
    const below = (step: string) => (path === "" ? step : `${path}.${step}`);
    if (shape.kind === "named") visit(shape.values, below("<name>"));
    if (shape.kind === "list") visit(shape.items, path);
    if (shape.kind === "choice") for (const option of shape.options) visit(option.schema, path);
    if (shape.kind !== "table") return;
    if (namesIn(schema).some((right) => sameName(right, name))) found.add(path);
    for (const [step, entry] of shape.entries) visit(entry, below(step));
  };
  visit(root, "");
  return [...found];
}

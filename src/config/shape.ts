/** What a schema looks like from outside: tables, named values, lists, choices and plain values. */

import * as v from "valibot";
import type { KeyFacts, Schema } from "./values.ts";

/** A schema, told apart by what it holds. */
export type Shape =
  | { readonly kind: "table"; readonly entries: ReadonlyMap<string, Schema> }
  | { readonly kind: "named"; readonly names: Schema; readonly values: Schema }
  | { readonly kind: "list"; readonly items: Schema }
  | { readonly kind: "choice"; readonly by: string; readonly options: readonly Option[] }
  | { readonly kind: "value" };

/** One of several tables, and the value of the key that chooses it. */
export interface Option {
  readonly value: string;
  readonly schema: Schema;
}

/** The parts of valibot's schemas that are read here; they are plain data. */
interface Inside {
  readonly type: string;
  readonly wrapped?: Schema;
  readonly entries?: Readonly<Record<string, Schema>>;
  readonly key?: unknown;
  readonly value?: Schema;
  readonly item?: Schema;
  readonly options?: readonly unknown[];
  readonly literal?: unknown;
  readonly default?: unknown;
}

const inside = (schema: Schema) => schema as unknown as Inside;

/** The schema below an `optional`. */
function unwrap(schema: Schema): Schema {
  const { wrapped } = inside(schema);
  return wrapped === undefined ? schema : unwrap(wrapped);
}

export function shapeOf(schema: Schema): Shape {
  const { type, entries, key, value, item, options } = inside(unwrap(schema));
  if (type === "strict_object") return { kind: "table", entries: new Map(Object.entries(entries ?? {})) };
  if (type === "record" && value !== undefined) return { kind: "named", names: key as Schema, values: value };
  if (type === "array" && item !== undefined) return { kind: "list", items: item };
  if (type === "variant")
    return {
      kind: "choice",
      by: String(key),
      options: (options ?? []).map((option) => optionOf(option as Schema, String(key))),
    };
  return { kind: "value" };
}

function optionOf(schema: Schema, by: string): Option {
  const literal = inside(schema).entries?.[by];
  return { value: String(literal === undefined ? "" : inside(unwrap(literal)).literal), schema };
}

/** The type of a plain value, and the words it may be where it is one of several. */
export function valueType(schema: Schema): { readonly type: string; readonly options: readonly string[] } {
  const { type, options, literal } = inside(unwrap(schema));
  if (type === "picklist") return { type, options: (options ?? []).map(String) };
  return { type, options: type === "literal" ? [String(literal)] : [] };
}

/** What was declared of a key beside its type. */
export function factsOf(schema: Schema): KeyFacts {
  return v.getMetadata(schema) as KeyFacts;
}

export function descriptionOf(schema: Schema): string | undefined {
  return v.getDescription(schema) ?? (schema === unwrap(schema) ? undefined : v.getDescription(unwrap(schema)));
}

/** The default, as a person would write it; `undefined` where there is none. */
export function defaultOf(schema: Schema): unknown {
  return inside(schema).default;
}

/** Whether a table is right without the key. */
export function isOptional(schema: Schema): boolean {
  return inside(schema).wrapped !== undefined;
}

/** The schema at a path; `undefined` where there is none. A choice is looked into by the table that is there. */
export function schemaAt(schema: Schema, path: readonly PropertyKey[], value: unknown): Schema | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return schema;
  const shape = shapeOf(schema);
  const below = isTable(value) || Array.isArray(value) ? (value as Record<PropertyKey, unknown>)[step] : undefined;
  const into = (next: Schema | undefined) => next && schemaAt(next, rest, below);
  if (shape.kind === "table") return into(shape.entries.get(String(step)));
  if (shape.kind === "named") return into(shape.values);
  if (shape.kind === "list") return into(shape.items);
  if (shape.kind === "value") return undefined;
  const chosen = isTable(value) ? shape.options.find((option) => option.value === value[shape.by]) : undefined;
  return chosen && schemaAt(chosen.schema, path, value);
}

/** A table, as opposed to a list, a date or an instance of a class. */
export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // An object literal of another realm has a prototype that is not ours but has none itself.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** JSON Schema of config.toml, for editors: made from the schemas that validate it. */

import { toJsonSchema } from "@valibot/to-json-schema";
import type { Definition } from "../config.ts";
import { dotted } from "./problems.ts";
import { defaultOf, descriptionOf, factsOf, isOptional, type Shape, shapeOf } from "./shape.ts";
import type { Alias, Schema } from "./values.ts";

/** A JSON Schema, or a part of one. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** Draft 7: the newest that taplo and Even Better TOML read. */
const draft = "http://json-schema.org/draft-07/schema#";

/**
 * The schema of the whole file, with descriptions, defaults and other spellings. It takes what `validateConfig` takes, but
 * for the rules that no schema can say: those between tables, and some on the inside of strings.
 *
 * @example
 * ```ts
 * import { defineConfig } from "../config.ts";
 *
 * const text = JSON.stringify(configJsonSchema(defineConfig([])), null, 2);
 * text.includes('"default_timeout_secs"'); // → true
 * ```
 */
export function configJsonSchema({ schema }: Definition): JsonSchema {
  return { $schema: draft, title: "prx-runtime config.toml", ...describe(schema, []) };
}

type Path = readonly string[];

function describe(schema: Schema, path: Path): JsonSchema {
  const shape = shapeOf(schema);
  const description = descriptionOf(schema);
  const fallback = defaultOf(schema);
  const isValue = shape.kind === "value" || shape.kind === "list";
  return {
    ...(path.length === 0 ? {} : { title: dotted(path) }),
    ...(description === undefined ? {} : { description }),
    ...(isValue && fallback !== undefined ? { default: fallback } : {}),
    ...typeOf(schema, shape, path),
  };
}

function typeOf(schema: Schema, shape: Shape, path: Path): JsonSchema {
  if (shape.kind === "table") return describeTable(shape.entries, path);
  if (shape.kind === "list") return { type: "array", items: typeOf(shape.items, shapeOf(shape.items), path) };
  if (shape.kind === "value") return describeValue(schema);
  if (shape.kind === "choice") {
    return {
      type: "object",
      required: [shape.by],
      oneOf: shape.options.map((option) => typeOf(option.schema, shapeOf(option.schema), path)),
    };
  }
  return {
    type: "object",
    propertyNames: describeValue(shape.names),
    additionalProperties: describe(shape.values, [...path, "<name>"]),
  };
}

function describeValue(schema: Schema): JsonSchema {
  // Checks written as functions have no form in JSON Schema: they are left to the validation itself.
  const {
    $schema: _,
    default: __,
    ...rest
  } = toJsonSchema(schema as Parameters<typeof toJsonSchema>[0], {
    target: "draft-07",
    typeMode: "input",
    errorMode: "ignore",
    ignoreActions: ["metadata", "description"],
  });
  return rest;
}

function describeTable(entries: ReadonlyMap<string, Schema>, path: Path): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const [name, entry] of entries) properties[name] = describe(entry, [...path, name]);
  const conflicts: JsonSchema[] = [];
  for (const [name, entry] of entries) {
    for (const other of factsOf(entry).aliases ?? []) {
      addAlias(properties, other, describeAlias(dotted([...path, name]), { entry, other, path }));
      conflicts.push({ not: { allOf: [{ required: [name] }, present(other.path)] } });
    }
  }
  const required = [...entries].filter(([, entry]) => !isOptional(entry)).map(([name]) => name);
  return {
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(conflicts.length === 0 ? {} : { allOf: conflicts }),
    additionalProperties: false,
  };
}

function describeAlias(
  canonical: string,
  { entry, other, path }: { entry: Schema; other: Alias; path: Path },
): JsonSchema {
  const value = other.schema === undefined ? typeOf(entry, shapeOf(entry), path) : describeValue(other.schema);
  return { title: dotted([...path, ...other.path]), description: `Another spelling of ${canonical}`, ...value };
}

function addAlias(
  properties: Record<string, JsonSchema>,
  { path: [first, second] }: Alias,
  described: JsonSchema,
): void {
  if (second === undefined) {
    properties[first] = described;
    return;
  }
  const table = properties[first] ?? {
    type: "object",
    description: "Other spellings of keys of the table above",
    additionalProperties: false,
  };
  properties[first] = {
    ...table,
    properties: { ...(table["properties"] as JsonSchema | undefined), [second]: described },
  };
}

function present([first, second]: Alias["path"]): JsonSchema {
  return { required: [first], ...(second === undefined ? {} : { properties: { [first]: { required: [second] } } }) };
}

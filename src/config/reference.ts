/** The reference of config.toml as Markdown: made from the schemas that validate it. */

import type { Definition } from "../config.ts";
import { dotted } from "./problems.ts";
import { defaultOf, descriptionOf, factsOf, isOptional, shapeOf, valueType } from "./shape.ts";
import type { Schema } from "./values.ts";

type Path = readonly string[];

/**
 * One section for each table, with a row for each key: its type, default, meaning and other spellings.
 *
 * @example
 * ```ts
 * import { defineConfig } from "../config.ts";
 *
 * const markdown = configReference(defineConfig([]));
 * markdown.startsWith("## `[runtime]`"); // → true
 * ```
 */
export function configReference(definition: Definition): string {
  return describeTable(definition.schema, [], "").join("\n\n");
}

/** The table's section, then those of the tables in it. */
function describeTable(schema: Schema, path: Path, when: string): string[] {
  const shape = shapeOf(schema);
  if (shape.kind === "choice") {
    return shape.options.flatMap((option) =>
      describeTable(option.schema, path, ` with \`${shape.by} = "${option.value}"\``),
    );
  }
  if (shape.kind === "named") return describeTable(shape.values, [...path, "<name>"], when);
  if (shape.kind !== "table") return [];
  const rows: string[] = [];
  const below: string[] = [];
  for (const [name, entry] of shape.entries) {
    const where = [...path, name];
    const shape = shapeOf(entry);
    if (shape.kind === "list" && shapeOf(shape.items).kind === "table")
      below.push(...describeTable(shape.items, where, ", in each table of the list"));
    if (isSection(entry)) below.push(...describeTable(entry, where, when));
    else rows.push(row(name, entry));
  }
  const description = descriptionOf(schema);
  const head = `## \`[${header(path)}]\`${when}`;
  const about = description === undefined ? [] : [`${description}.`];
  const keys =
    rows.length === 0 ? [] : [["| Key | Type | Default | Meaning |", "|---|---|---|---|", ...rows].join("\n")];
  return path.length === 0 || about.length + keys.length === 0 ? below : [head, ...about, ...keys, ...below];
}

/** Whether a key's value is a table with keys of ours, as opposed to one with the operator's own names and plain values. */
function isSection(schema: Schema): boolean {
  const shape = shapeOf(schema);
  if (shape.kind === "named") return shapeOf(shape.values).kind !== "value";
  return shape.kind === "table";
}

function header(path: Path): string {
  return path.map((step) => (step === "<name>" ? step : dotted([step]))).join(".");
}

function row(name: string, entry: Schema): string {
  const { aliases = [], secret } = factsOf(entry);
  const notes = [`${descriptionOf(entry) ?? ""}.`];
  if (aliases.length > 0) notes.push(`Also spelled ${aliases.map((other) => `\`${dotted(other.path)}\``).join(", ")}.`);
  if (secret === true) notes.push("Secret: never shown.");
  const spelling = shapeOf(entry).kind === "named" ? `${name}.<name>` : name;
  return `| ${[`\`${spelling}\``, typeName(entry), defaultName(entry), notes.join(" ")].join(" | ")} |`;
}

function typeName(entry: Schema): string {
  const shape = shapeOf(entry);
  if (shape.kind === "list")
    return shapeOf(shape.items).kind === "table" ? "list of tables" : `list: ${typeName(shape.items)}`;
  if (shape.kind === "named") return typeName(shape.values);
  if (factsOf(entry).unit === "size") return "size";
  const { type, options } = valueType(entry);
  if (options.length > 0) return options.map((option) => `\`${option}\``).join(" · ");
  return type === "union" ? "string or number" : type;
}

function defaultName(entry: Schema): string {
  if (!isOptional(entry)) return "required";
  const value = defaultOf(entry);
  if (value === undefined || shapeOf(entry).kind === "named") return "–";
  return `\`${JSON.stringify(value).replaceAll(",", ", ")}\``;
}

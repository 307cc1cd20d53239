/** A configuration as TOML for people: what was written stands as it is, defaults are comments, secrets are hidden. */

import { stringify } from "smol-toml";
import { type ConfigOf, type Definition, writtenKeys } from "../config.ts";
import { formatSize } from "../units.ts";
import type { AnyFragment } from "./fragment.ts";
import { dotted, spellKey } from "./problems.ts";
import { redactConfig } from "./redact.ts";
import { factsOf, isTable, schemaAt } from "./shape.ts";
import type { Schema } from "./values.ts";

interface Shown {
  readonly schema: Schema;
  readonly value: Readonly<Record<string, unknown>>;
  readonly path: readonly string[];
  readonly written: ReadonlySet<string>;
}

/**
 * Writes a validated configuration as TOML that means the same: the keys that somebody wrote, and every default behind `# `.
 * Values that are secret are `"<redacted>"`, and refused should they be read again.
 *
 * @throws RuntimeError `internal` for an object that did not come from `validateConfig`.
 */
export function showConfig<Fragments extends readonly AnyFragment[]>(
  definition: Definition<Fragments>,
  config: ConfigOf<Fragments>,
): string {
  const value = redactConfig(definition, config) as unknown as Shown["value"];
  const blocks = showTable({ schema: definition.schema, value, path: [], written: writtenKeys(config) });
  return `${blocks.join("\n\n")}\n`;
}

/** The table's own block, then those of the tables in it. */
function showTable({ schema, value, path, written }: Shown): string[] {
  const lines: string[] = path.length === 0 ? [] : [`[${dotted(path)}]`];
  const below: string[] = [];
  for (const [name, part] of Object.entries(value)) {
    const found = schemaAt(schema, [name], value);
    if (part === undefined || found === undefined) continue;
    const where = [...path, name];
    if (isTable(part)) {
      below.push(...showTable({ schema: found, value: part, path: where, written }));
      continue;
    }
    const size = factsOf(found).unit === "size" && typeof part === "number";
    const line = `${spellKey(name)} = ${spellValue(size ? formatSize(part) : part)}`;
    lines.push(written.has(dotted(where)) ? line : `# ${line}`);
  }
  const hasKeys = lines.length > (path.length === 0 ? 0 : 1);
  return hasKeys ? [lines.join("\n"), ...below] : below;
}

function spellValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spellValue).join(", ")}]`;
  if (!isTable(value)) return stringify({ value }).slice("value = ".length).trimEnd();
  const parts = Object.entries(value).map(([name, part]) => `${spellKey(name)} = ${spellValue(part)}`);
  return `{ ${parts.join(", ")} }`;
}

/** A configuration without its secrets, for showing. */

import type { ConfigOf, Definition } from "../config.ts";
import { deepFreeze } from "../deep-freeze.ts";
import type { AnyFragment } from "./fragment.ts";
import { factsOf, isTable, schemaAt } from "./shape.ts";
import { redacted, type Schema } from "./values.ts";

/**
 * The same configuration with `"<redacted>"` in the place of each value that its schema declares secret. In a secret table
 * the names stay. The answer is a copy for people: it was not validated, and `writtenKeys` does not know it.
 *
 * @example
 * ```ts
 * import { nativeFragment } from "../../adapters/native.fragment.ts";
 * import { defineConfig, validateConfig } from "../config.ts";
 *
 * const definition = defineConfig([nativeFragment]);
 * const config = validateConfig(definition, { runtime: { native: { env: { API_KEY: "s3cret" } } } });
 * console.log(JSON.stringify(redactConfig(definition, config).runtime.native));
 * // → {"shell":"/bin/bash","env":{"API_KEY":"<redacted>"}}
 * ```
 */
export function redactConfig<Fragments extends readonly AnyFragment[]>(
  definition: Definition<Fragments>,
  config: ConfigOf<Fragments>,
): ConfigOf<Fragments> {
  return deepFreeze(redact(definition.schema, config)) as unknown as ConfigOf<Fragments>;
}

function redact(schema: Schema, value: unknown): unknown {
  if (factsOf(schema).secret === true) return mask(value);
  const below = (step: PropertyKey, part: unknown) => {
    const found = schemaAt(schema, [step], value);
    // What has no schema cannot be told from a secret.
    return found === undefined ? mask(part) : redact(found, part);
  };
  if (Array.isArray(value)) return value.map((part: unknown, index) => below(index, part));
  if (!isTable(value)) return value;
  return copy(value, below);
}

function mask(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mask);
  if (isTable(value)) return copy(value, (_, part) => mask(part));
  return value === undefined ? undefined : redacted;
}

function copy(
  table: Readonly<Record<string, unknown>>,
  part: (name: string, value: unknown) => unknown,
): Record<string, unknown> {
  const copied: Record<string, unknown> = Object.create(Object.getPrototypeOf(table));
  for (const [name, value] of Object.entries(table)) copied[name] = part(name, value);
  return copied;
}

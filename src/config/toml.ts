/** config.toml as text: parsed and validated. */

import { parse, TomlError } from "smol-toml";
import { type ConfigOf, type Definition, type ValidateOptions, validateConfig } from "../config.ts";
import { RuntimeError } from "../errors.ts";
import type { AnyFragment } from "./fragment.ts";

/**
 * Parses TOML and validates what it says.
 *
 * @throws RuntimeError `config_invalid`: with line and column for what is no TOML or says a thing twice; else with every
 *   problem, as `validateConfig` lists them. No line of the file is repeated in it: one may hold a secret.
 * @example
 * ```ts
 * import { defineConfig } from "../config.ts";
 *
 * const config = parseConfig(defineConfig([]), "runtime.kill_grace_secs = 5", { origin: "config.toml" });
 * config.runtime.kill_grace_secs; // → 5
 * ```
 */
export function parseConfig<Fragments extends readonly AnyFragment[]>(
  definition: Definition<Fragments>,
  toml: string,
  options: ValidateOptions = {},
): ConfigOf<Fragments> {
  return validateConfig(definition, parseTables(toml, options), options);
}

/** TOML's tables as they stand, not validated. */
export function parseTables(
  toml: string,
  { origin = "the configuration" }: ValidateOptions = {},
): Readonly<Record<string, unknown>> {
  try {
    return parse(toml);
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    // The error's own message and cause hold lines of the file.
    const [what = ""] = thrown.message.replace("Invalid TOML document: ", "").split("\n");
    const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}`.replaceAll(". ", ": ");
    throw new RuntimeError(
      "config_invalid",
      `Correct a problem in ${origin}:\n  Line ${thrown.line}, column ${thrown.column}: ${sentence}`,
    );
  }
}

/** The configuration: fragments in, one validated and frozen object out. */

import * as v from "valibot";
import { checkConfig } from "./config/checks.ts";
import type { AnyFragment, Fragment, Section, TableSchema, ToolConfig } from "./config/fragment.ts";
import { configError, problemsOf } from "./config/problems.ts";
import { readConfig } from "./config/read.ts";
import {
  backendNames,
  type Config,
  type CoreInput,
  configSchema,
  type RuntimeConfig,
  type SecurityConfig,
} from "./config/schema.ts";
import { type DeepReadonly, deepFreeze } from "./deep-freeze.ts";
import { RuntimeError } from "./errors.ts";

export type { CommandTool, WasmTool } from "./config/tools.ts";
export type { Config, RuntimeConfig, SecurityConfig, ToolConfig };

/** A configuration together with the tables that its fragments brought. */
export type ConfigOf<Fragments extends readonly AnyFragment[]> = Config & {
  readonly runtime: { readonly [Part in Placed<Fragments, "runtime"> as Part["name"]]: Section<Part["schema"]> };
} & { readonly [Part in Placed<Fragments, "top"> as Part["name"]]: Section<Part["schema"]> };

/**
 * What a caller may write as an object: the canonical keys of config.toml, each of them optional. Other spellings are
 * understood too, and have no place in the type.
 */
export type ConfigInput<Fragments extends readonly AnyFragment[]> = CoreInput & {
  readonly runtime?: { readonly backend?: Placed<Fragments, "runtime">["name"] | "auto" } & {
    readonly [Part in Placed<Fragments, "runtime"> as Part["name"]]?: DeepReadonly<v.InferInput<Part["schema"]>>;
  };
} & { readonly [Part in Placed<Fragments, "top"> as Part["name"]]?: DeepReadonly<v.InferInput<Part["schema"]>> };

type Placed<Fragments extends readonly AnyFragment[], Place> = Extract<Fragments[number], { readonly place: Place }>;

/** What a configuration may hold: the core's tables and those of the fragments. */
export interface Definition<Fragments extends readonly AnyFragment[] = readonly AnyFragment[]> {
  readonly fragments: Fragments;
  /** Every value that `runtime.backend` may have, `"auto"` included. */
  readonly backends: readonly string[];
  /** The names of the top-level tables. */
  readonly tables: readonly string[];
  readonly schema: TableSchema;
}

export interface ValidateOptions {
  /** Names the source in errors: a path, mostly. @default "the configuration" */
  readonly origin?: string;
  /** The file that it came from. */
  readonly file?: string | undefined;
}

interface Provenance {
  readonly file: string | undefined;
  readonly definition: Definition;
  /** What was written, under canonical keys. */
  readonly values: unknown;
  readonly written: ReadonlySet<string>;
  readonly toolNames: ReadonlySet<string>;
}

/** Where each validated configuration came from. The object itself is the key, so nobody can forge or lose it. */
const provenance = new WeakMap<object, Provenance>();

/**
 * Composes the core's tables with those of the fragments. Cheap, and pure: validates nothing yet.
 *
 * @throws RuntimeError `internal` for two fragments, or a fragment and a key of the core, with one name.
 * @example
 * ```ts
 * import { nativeFragment } from "../adapters/native.fragment.ts";
 *
 * const definition = defineConfig([nativeFragment]);
 * definition.backends; // → ["auto", "native"]
 * ```
 */
export function defineConfig<const Fragments extends readonly AnyFragment[]>(
  fragments: Fragments,
): Definition<Fragments> {
  const schema = configSchema(fragments);
  return Object.freeze({ fragments, backends: backendNames(fragments), tables: Object.keys(schema.entries), schema });
}

/**
 * Validates what has the shape of config.toml. An object that was validated by the same definition is answered as it is.
 *
 * @throws RuntimeError `config_invalid`, which lists every problem with its table, its key and what is right.
 * @example
 * ```ts
 * import { nativeFragment } from "../adapters/native.fragment.ts";
 *
 * const config = validateConfig(defineConfig([nativeFragment]), { runtime: { backend: "native" } });
 * config.runtime.native.shell; // → "/bin/bash"
 * ```
 */
export function validateConfig<Fragments extends readonly AnyFragment[]>(
  definition: Definition<Fragments>,
  input: unknown,
  { origin = "the configuration", file }: ValidateOptions = {},
): ConfigOf<Fragments> {
  const earlier = typeof input === "object" && input !== null ? provenance.get(input) : undefined;
  if (earlier?.definition === definition) return input as ConfigOf<Fragments>;
  const { schema, fragments } = definition;
  // Defaults of another definition are not wishes: only what somebody wrote is validated again.
  const { values, notes } = readConfig(schema, earlier === undefined ? input : earlier.values);
  const { problems, written, toolNames, spellings } = notes;
  const result = v.safeParse(schema, values);
  if (result.issues !== undefined) problems.push(...problemsOf(result.issues, { schema, values, spellings }));
  if (problems.length > 0) throw configError(problems, origin);
  const config = deepFreeze(result.output) as unknown as ConfigOf<Fragments>;
  problems.push(...checkConfig({ config, fragments, spellings, written }));
  if (problems.length > 0) throw configError(problems, origin);
  provenance.set(config, { file: file ?? earlier?.file, definition, values, written, toolNames });
  return config;
}

/** The configuration of somebody who wrote nothing. */
export function defaultConfig<Fragments extends readonly AnyFragment[]>(
  definition: Definition<Fragments>,
): ConfigOf<Fragments> {
  return validateConfig(definition, {});
}

/**
 * The same configuration with one key written, or written anew, at its canonical place.
 *
 * @throws RuntimeError `config_invalid` for a value that the key cannot have.
 * @example
 * ```ts
 * import { nativeFragment } from "../adapters/native.fragment.ts";
 *
 * const definition = defineConfig([nativeFragment]);
 * const config = validateConfig(definition, { security: { sandbox: { allow_network: true } } });
 * const amended = amendConfig(config, ["security", "sandbox", "backend"], "auto");
 * [amended.security.sandbox.backend, amended.security.sandbox.allow_network]; // → ["auto", true]
 * ```
 */
export function amendConfig<Validated extends Config>(
  config: Validated,
  path: readonly [string, ...string[]],
  value: unknown,
): Validated {
  const { values, file, definition } = provenanceOf(config);
  return validateConfig(definition, writeAt(values, path, value), { file }) as unknown as Validated;
}

function writeAt(table: unknown, [name, ...below]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const entries = typeof table === "object" && table !== null ? table : {};
  return { ...entries, [name]: writeAt((entries as Readonly<Record<string, unknown>>)[name], below, value) };
}

/**
 * The canonical names of the keys that somebody wrote, as opposed to defaults: `"runtime.docker.memory_limit"`, even where
 * it was spelled `memory_limit_mb`. A list counts as one key; in a table of named values each name is one
 * (`"runtime.native.env.RUSTFLAGS"`). Names that TOML would quote are quoted.
 *
 * @throws RuntimeError `internal` for an object that did not come from {@link validateConfig}.
 */
export function writtenKeys(config: Config): ReadonlySet<string> {
  return provenanceOf(config).written;
}

/** The file that the configuration was read from; `null` for one that a program wrote. */
export function configFile(config: Config): string | null {
  return provenanceOf(config).file ?? null;
}

/** The names of the top-level tables that it may have. */
export function configTables(config: Config): readonly string[] {
  return provenanceOf(config).definition.tables;
}

/** Every tool that the configuration knows by name: custom tools, and those that only have an image of their own. */
export function toolNames(config: Config): ReadonlySet<string> {
  return provenanceOf(config).toolNames;
}

/**
 * A fragment's own table, typed.
 *
 * @throws RuntimeError `internal` where the configuration was validated without the fragment.
 * @example
 * ```ts
 * import { dockerFragment } from "../adapters/docker.fragment.ts";
 *
 * const config = validateConfig(defineConfig([dockerFragment]), {});
 * sectionOf(config, dockerFragment).memory_limit; // → 268435456
 * ```
 */
export function sectionOf<Name extends string, Place extends AnyFragment["place"], S extends TableSchema>(
  config: Config,
  part: Fragment<Name, Place, S>,
): Section<S> {
  const tables = (part.place === "runtime" ? config.runtime : config) as unknown as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(tables, part.name)) return tables[part.name] as Section<S>;
  throw new RuntimeError(
    "internal",
    `The configuration was validated without the table ${part.name}: add its fragment`,
  );
}

function provenanceOf(config: Config): Provenance {
  const found = provenance.get(config);
  if (found !== undefined) return found;
  throw new RuntimeError("internal", "This configuration was not validated: pass it through validateConfig first");
}

/** A fragment: the table of the configuration that a backend, or another part of the product, brings with it. */

import * as v from "valibot";
import type { DeepReadonly } from "../deep-freeze.ts";
import type { Path } from "./problems.ts";
import type { ToolConfig } from "./tools.ts";
import type { Schema } from "./values.ts";

export * from "./names.ts";
export type { ToolConfig } from "./tools.ts";
export * from "./values.ts";

/** A table whose keys are known, each of them optional or with a default. */
export type TableSchema = v.StrictObjectSchema<v.ObjectEntries, string | undefined>;

/** What a fragment's table is once it is read. */
export type Section<S extends Schema> = DeepReadonly<v.InferOutput<S>>;

/** A fragment as the registry composes it, whatever its table. */
export interface AnyFragment {
  /** The last part of the table's name, and the backend's name where it is one. */
  readonly name: string;
  /** `"runtime"`: the table is `[runtime.<name>]` and the name is a backend's. `"top"`: it is `[<name>]`. */
  readonly place: "runtime" | "top";
  readonly schema: TableSchema;
  /** Rules between keys, asked when each key by itself is right. */
  check?(check: FragmentCheck<never>): void;
}

/** A fragment whose name and table the type system knows. */
export interface Fragment<Name extends string, Place extends AnyFragment["place"], S extends TableSchema>
  extends AnyFragment {
  readonly name: Name;
  readonly place: Place;
  readonly schema: S;
  check?(check: FragmentCheck<Section<S>>): void;
}

/** What rules between keys may look at, and how they say what is wrong. */
export interface FragmentCheck<Values> {
  readonly values: Values;
  readonly tools: Readonly<Record<string, ToolConfig>>;
  /** Whether `runtime.backend` or a tool names this fragment. */
  readonly chosen: boolean;
  /** Whether somebody wrote another value than the default: a copy of a whole configuration writes every default too. */
  isChanged(key: string): boolean;
  /** `runtime.max_timeout_secs`; 0 means no maximum. */
  readonly maxTimeoutSecs: number;
  /** `path` begins below the fragment's table; `message` begins with a capital, says what to do, and has no full stop. */
  report(path: Path, message: string): void;
  /** The same of a tool; `path` begins below `[tools.custom.<name>]`. */
  reportTool(tool: string, path: Path, message: string): void;
}

/** A table with these keys; any other is an error. */
export function table<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.strictObject(entries, "Give a table");
}

/**
 * Declares a fragment.
 *
 * @example
 * ```ts
 * import * as v from "valibot";
 *
 * export const nativeFragment = fragment({
 *   name: "native",
 *   place: "runtime",
 *   schema: table({ shell: key(v.optional(text, "/bin/bash"), "The shell of shell-form commands") }),
 * });
 * nativeFragment.name; // → "native"
 * ```
 */
export function fragment<const Name extends string, const Place extends AnyFragment["place"], S extends TableSchema>(
  declared: Fragment<Name, Place, S>,
): Fragment<Name, Place, S> {
  return declared;
}

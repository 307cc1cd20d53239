/**
 * prx-runtime: runs a tool's command in one of several places and gives back the same answer with the same guarantees.
 * This is the library's door for Node, Bun and Deno. Importing it runs nothing and loads no backend.
 *
 * @module
 */

import { definition, type FullConfig } from "./adapters/fragments.ts";
import { registry } from "./adapters/registry.ts";
import { systemConfigPlaces } from "./host/config-files.ts";
import { type Inspection, inspectEntries } from "./host/inspect-backends.ts";
import { createSystemHost } from "./host/system-host.ts";
import type { BackendEntry, BackendFactory } from "./src/backend.ts";
import type { ConfigSearch } from "./src/config/find.ts";
import { amendConfig, defaultConfig, validateConfig } from "./src/config.ts";
import { RuntimeError } from "./src/errors.ts";
import { assembleRuntime } from "./src/runtime.ts";
import type { Runtime } from "./src/runtime-types.ts";
import type { Warning } from "./src/types.ts";

export type { InspectedBackend, Inspection } from "./host/inspect-backends.ts";
export type { ConfigOrigin, ConfigSearch, FoundConfig } from "./src/config/find.ts";
export * from "./src/core.ts";

/** The whole configuration, frozen: the keys of `config.toml`, defaults filled in. */
export type Configuration = FullConfig;

/** A value of `security.sandbox.backend` that asks for a sandbox. */
export type SandboxChoice = Exclude<Configuration["security"]["sandbox"]["backend"], "none">;

/** What {@link createRuntime} takes besides the configuration. */
export interface CreateRuntimeOptions {
  /** Backends of your own, by name, in place of the built-in ones: a test double, mostly. */
  readonly backends?: Readonly<Record<string, BackendFactory>>;
  /** Chosen in place of `auto`, by whoever is the operator here. A configuration that names a backend stands. */
  readonly backend?: string;
  /**
   * Put around local processes, in place of `none` or `auto`, by whoever is the operator here; commands then run on the
   * native backend. A configuration that names another sandbox, or another backend, stands, and is an error beside it.
   */
  readonly sandbox?: SandboxChoice;
  /** Told which backend was chosen and why, and of what no single execution can carry. @default nothing is told */
  readonly log?: (message: Warning) => void;
}

/**
 * Makes a runtime: validates the configuration, chooses the backend and verifies that it can be used.
 *
 * @param config the keys of `config.toml` as an object, or what `loadConfig` answered. @default everything by default
 * @throws RuntimeError `config_invalid` with every problem, or `backend_unavailable` with the reason and the remedy.
 * @example
 * ```ts
 * import { createRuntime } from "prx-runtime";
 *
 * await using runtime = await createRuntime({ runtime: { backend: "native" } });
 * const out = await runtime.execute("sh", ["-c", "echo hi; exit 3"]);
 * console.log(out.outcome, out.exitCode, out.stdout);
 * // → completed 3 hi
 * ```
 */
export async function createRuntime(config: unknown = {}, options: CreateRuntimeOptions = {}): Promise<Runtime> {
  return assembleRuntime({
    ...operatorsWish(validateConfig(definition, config), options),
    host: createSystemHost(),
    entries: entriesWith(options.backends ?? {}),
    log: options.log,
  });
}

/**
 * Reads and validates the configuration file: the one at `path`, else the first that is found where `locateConfig` looks.
 * Without any, everything has its default.
 *
 * @throws RuntimeError `config_invalid`, which lists every problem with its table, its key and what is right.
 * @example
 * ```ts
 * import { createRuntime, loadConfig } from "prx-runtime";
 *
 * await using runtime = await createRuntime(await loadConfig());
 * console.log(await runtime.isAvailable());
 * // → true
 * ```
 */
export async function loadConfig(path?: string): Promise<Configuration> {
  const { found } = await locateConfig(path);
  if (found === null) return defaultConfig(definition);
  const { parseConfig } = await import("./src/config/toml.ts");
  return parseConfig(definition, found.text, { origin: found.path, file: found.path });
}

/**
 * Says which configuration file {@link loadConfig} would read, and every place that was looked at.
 *
 * @throws RuntimeError `config_invalid` where a path that somebody named is not there, or a file cannot be read.
 */
export async function locateConfig(path?: string): Promise<ConfigSearch> {
  const { findConfig } = await import("./src/config/find.ts");
  return findConfig(systemConfigPlaces(), { flag: path, tables: definition.tables });
}

/**
 * Probes every backend, whichever is configured, and says what {@link createRuntime} would do. Runs no command.
 *
 * @throws RuntimeError `config_invalid`; a backend that cannot be used is told, not thrown.
 * @example
 * ```ts
 * import { inspectBackends } from "prx-runtime";
 *
 * const { chosen, backends } = await inspectBackends({ runtime: { backend: "native" } });
 * console.log(chosen, backends.find(({ backend }) => backend === chosen)?.availability.available);
 * // → native true
 * ```
 */
export async function inspectBackends(config: unknown = {}, options: CreateRuntimeOptions = {}): Promise<Inspection> {
  return inspectEntries({
    ...operatorsWish(validateConfig(definition, config), options),
    host: createSystemHost(),
    entries: entriesWith(options.backends ?? {}),
    log: options.log,
  });
}

/** The configuration and the backend, after what the operator says besides the file. */
function operatorsWish(
  config: Configuration,
  { backend, sandbox }: CreateRuntimeOptions,
): { readonly config: Configuration; readonly backend: string | undefined } {
  if (sandbox === undefined) return { config, backend };
  const place = config.runtime.backend === "auto" ? (backend ?? "native") : config.runtime.backend;
  if (place !== "native") {
    throw new RuntimeError(
      "invalid_request",
      `A sandbox goes around local processes, and backend ${place} is asked for: choose native, or leave the sandbox out`,
    );
  }
  const { backend: configured } = config.security.sandbox;
  if (sandbox === configured || (sandbox === "auto" && configured !== "none")) return { config, backend: place };
  if (configured !== "none" && configured !== "auto") {
    throw new RuntimeError(
      "invalid_request",
      `The configuration asks for ${configured}, and ${sandbox} is asked for besides: leave that out, or change the configuration`,
    );
  }
  return { config: amendConfig(config, ["security", "sandbox", "backend"], sandbox), backend: place };
}

/** The registry, with a caller's own backends in the place of ours. */
function entriesWith(own: Readonly<Record<string, BackendFactory>>): readonly BackendEntry[] {
  return registry
    .filter(({ name }) => !Object.hasOwn(own, name))
    .concat(Object.entries(own).map(([name, factory]) => ({ name, load: async () => factory })));
}

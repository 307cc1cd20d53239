/**
 * prx-runtime: runs a tool's command in one of several places and gives back the same answer with the same guarantees.
 * This is the library's door for Node, Bun and Deno. Importing it runs nothing and loads no backend.
 *
 * @module
 */

import { fragments } from "./adapters/fragments.ts";
import { registry } from "./adapters/registry.ts";
import { createSystemHost } from "./host/system-host.ts";
import type { BackendFactory } from "./src/backend.ts";
import { type ConfigOf, defineConfig, validateConfig } from "./src/config.ts";
import { assembleRuntime } from "./src/runtime.ts";
import type { Runtime } from "./src/runtime-types.ts";
import type { Warning } from "./src/types.ts";

export * from "./src/core.ts";

/** The whole configuration, frozen: the keys of `config.toml`, defaults filled in. */
export type Configuration = ConfigOf<typeof fragments>;

/** What {@link createRuntime} takes besides the configuration. */
export interface CreateRuntimeOptions {
  /** Backends of your own, by name, in place of the built-in ones: a test double, mostly. */
  readonly backends?: Readonly<Record<string, BackendFactory>>;
  /** Told which backend was chosen and why, and of what no single execution can carry. @default nothing is told */
  readonly log?: (message: Warning) => void;
}

const definition = defineConfig(fragments);

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
  const own = options.backends ?? {};
  const entries = registry
    .filter(({ name }) => !Object.hasOwn(own, name))
    .concat(Object.entries(own).map(([name, factory]) => ({ name, load: async () => factory })));
  return assembleRuntime({
    config: validateConfig(definition, config),
    host: createSystemHost(),
    entries,
    log: options.log,
  });
}

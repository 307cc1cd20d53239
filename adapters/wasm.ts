/** Modules and components of WebAssembly, under granted capabilities only. */

import { homedir } from "node:os";
import type { BackendFactory } from "../src/backend.ts";
import { type Config, sectionOf } from "../src/config.ts";
import { RuntimeError } from "../src/errors.ts";
import type { Host } from "../src/host.ts";
import type { Availability, Capabilities, RuntimeAdapter } from "../src/types.ts";
import { findPrograms } from "./_wasm/find-programs.ts";
import { inspectModule, type ModuleReport, modulesIn } from "./_wasm/inspect.ts";
import type { WasmPlace } from "./_wasm/place.ts";
import { wasmPolicy } from "./_wasm/policy.ts";
import { wasmFragment } from "./wasm.fragment.ts";

export type { ModuleReport, Wanted } from "./_wasm/inspect.ts";

const capabilities: Capabilities = {
  separateStderr: true,
  reportsSignal: true,
  stdin: true,
  files: true,
  runsPrograms: false,
  resumable: false,
  anyEnvName: true,
};

/** Puts the user's home in the place of a leading `~`. */
function homeIn({ env }: Host): (path: string) => string {
  const home = env["HOME"] ?? homedir();
  return (path) => path.replace(/^~(?=[\\/]|$)/, home);
}

/** Modules as a configuration finds them. */
export interface ModuleShelf {
  /** `runtime.wasm.module_path`. */
  readonly directory: string;
  /** Names of what stands in the directory. */
  list(): readonly string[];
  /** @throws RuntimeError where there is no such file; what is wrong with one that is there stands in the report. */
  inspect(written: string): Promise<ModuleReport>;
}

/** What there is to be run, without an engine. */
export function openModules(config: Config, host: Host): ModuleShelf {
  const modulePath = homeIn(host)(sectionOf(config, wasmFragment).module_path);
  return {
    directory: modulePath,
    list: () => modulesIn(modulePath),
    inspect: (written) => inspectModule(written, { modulePath, workingDir: host.workingDir }),
  };
}

/**
 * The WASM backend: WASI preview 1 modules and WASI 0.2 components, each run by an engine in a process of its own. A guest has
 * no directory, no network and no variable but those that it is granted.
 *
 * @param processes the backend by which engines are run, as processes of this machine
 * @example
 * ```ts ignore: it takes an engine and a module of yours
 * import { createRuntime } from "prx-runtime";
 *
 * await using runtime = await createRuntime({ runtime: { backend: "wasm" } });
 * console.log((await runtime.execute("./hello.wasm")).stdout);
 * ```
 */
export function wasmOn(processes: BackendFactory): BackendFactory {
  return async (context) => {
    const { config, host } = context;
    const settings = sectionOf(config, wasmFragment);
    const expand = homeIn(host);
    const programs = findPrograms(settings, { path: host.env["PATH"], expand });
    let place: Promise<WasmPlace> | null = null;
    let ready: WasmPlace | null = null;
    /** The larger part is loaded by those who have an engine. */
    const make = async (): Promise<WasmPlace> => {
      const { prepareWasm } = await import("./_wasm/place.ts");
      return prepareWasm({ ...context, settings, programs, processes, modulePath: expand(settings.module_path) });
    };
    const reached = (): WasmPlace => {
      if (ready !== null) return ready;
      throw new RuntimeError("internal", "No engine was looked for yet: isAvailable comes first", { backend: "wasm" });
    };

    const adapter: RuntimeAdapter = {
      name: "wasm",
      capabilities,
      async isAvailable(): Promise<Availability> {
        if (programs.found.length === 0) return { available: false, reason: programs.why, remedy: programs.remedy };
        place ??= make();
        ready = await place;
        return ready.availability;
      },
      lower: (plan) => reached().lower(plan),
      start: (plan, io, signal) => reached().start(plan, io, signal),
      sweep: (isAlive) => reached().sweep(isAlive),
      close: async () => (await place)?.close(),
    };
    return { adapter, policy: wasmPolicy(config, settings) };
  };
}

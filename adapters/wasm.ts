/** Modules and components of WebAssembly, under granted capabilities only. */

import { homedir } from "node:os";
import type { BackendFactory } from "../src/backend.ts";
import { sectionOf } from "../src/config.ts";
import { RuntimeError } from "../src/errors.ts";
import type { Availability, Capabilities, RuntimeAdapter } from "../src/types.ts";
import { findPrograms } from "./_wasm/find-programs.ts";
import type { WasmPlace } from "./_wasm/place.ts";
import { wasmPolicy } from "./_wasm/policy.ts";
import { wasmFragment } from "./wasm.fragment.ts";

const capabilities: Capabilities = {
  separateStderr: true,
  reportsSignal: true,
  stdin: true,
  files: true,
  runsPrograms: false,
  resumable: false,
  anyEnvName: true,
};

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
    const home = host.env["HOME"] ?? homedir();
    const expand = (path: string) => path.replace(/^~(?=[\\/]|$)/, home);
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

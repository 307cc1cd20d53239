/** Name → backend, loaded when it is first asked for. */

import type { BackendEntry } from "../src/backend.ts";

const absent = (name: string): BackendEntry => ({
  name,
  load: null,
  absent: `This version of prx-runtime does not hold the backend ${name}`,
});

/** Every backend that the configuration can name. */
export const registry: readonly BackendEntry[] = [
  { name: "native", load: async () => (await import("./native.ts")).native },
  { name: "docker", load: async () => (await import("./docker.ts")).docker },
  absent("kubernetes"),
  {
    name: "wasm",
    load: async () => {
      const [{ wasmOn }, { native }] = await Promise.all([import("./wasm.ts"), import("./native.ts")]);
      return wasmOn(native);
    },
  },
  absent("remote"),
  { name: "memory", load: null, absent: "The memory backend is a test double: give createRuntime one of your own" },
];

/** What there is of WASM modules; loaded when it is first asked for. */
export const loadModules = async () => (await import("./wasm.ts")).openModules;

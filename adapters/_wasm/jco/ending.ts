/** How the host program ends where the guest has not ended by itself. */

/** The guest did what no guest may: as wasmtime tells of it. */
export const trapExitCode = 134;

/** There was no guest to run, or nothing to run it with. */
export const hostFailureExitCode = 125;

export const trapPrefix = "prx-runtime: wasm trap: ";
export const memoryPrefix = "prx-runtime: wasm memory: ";
export const hostFailurePrefix = "prx-runtime: wasm host: ";

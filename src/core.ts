/** The core's door: everything but host access and the registry of backends. Loads where there are only web standards. */

export type { Backend, BackendContext, BackendEntry, BackendFactory, BackendPolicy } from "./backend.ts";
export * from "./config/fragment.ts";
export * from "./config.ts";
export { type ErrorCode, errorCodes, RuntimeError, type RuntimeErrorOptions, type Started } from "./errors.ts";
export type { Host, PathKind } from "./host.ts";
export { assembleRuntime, type RuntimeParts } from "./runtime.ts";
export type * from "./runtime-types.ts";
export * from "./types.ts";

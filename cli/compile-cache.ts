/** Keeps compiled code between runs, where the runtime can (Node): a start then takes half the time. */

import nodeModule from "node:module";
import { cacheDirectory } from "../host/cache-directory.ts";

/** Does nothing where there is no directory that is this user's alone. */
export function keepCompiled(): void {
  if (typeof nodeModule.enableCompileCache !== "function" || "Bun" in globalThis || "Deno" in globalThis) return;
  const directory = cacheDirectory();
  if (directory !== null) nodeModule.enableCompileCache(directory);
}

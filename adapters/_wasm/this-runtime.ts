/** The JavaScript runtime that this program is run by, as something that can run another. */

import { basename } from "node:path";
import process from "node:process";

export interface JsRuntime {
  readonly name: "node" | "bun" | "deno";
  readonly executable: string;
}

/** `null` in a program that was compiled into one file with its runtime: that runs nothing but itself. */
export function thisRuntime(): JsRuntime | null {
  const name = "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node";
  const executable = process.execPath;
  return basename(executable).toLowerCase().startsWith(name) ? { name, executable } : null;
}

/** A runtime on the WASM backend with the rig's engine, and directories that it may grant. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, type Runtime } from "../../mod.ts";
import { wasmtimeProgram } from "../rig/wasm/place.ts";

/** Engines that the tests are run with. */
export const engines = ["wasmtime", "jco"] as const;
export type TestedEngine = (typeof engines)[number];

/** Keys of `[runtime.wasm]`, and other tables. */
export interface WasmConfig {
  readonly wasm?: Readonly<Record<string, unknown>>;
  readonly tools?: Readonly<Record<string, unknown>>;
  readonly backend?: string;
  readonly runtime?: Readonly<Record<string, unknown>>;
}

/** Closed by whoever makes it. */
export function wasmRuntime(
  engine: TestedEngine,
  { wasm, tools = {}, backend = "wasm", runtime }: WasmConfig = {},
): Promise<Runtime> {
  const program = wasmtimeProgram();
  return createRuntime({
    runtime: {
      ...{ backend, kill_grace_secs: 0.5, ...runtime },
      wasm: { engine, ...(program === null ? {} : { wasmtime_program: program }), ...wasm },
    },
    tools: { custom: tools },
  } as Parameters<typeof createRuntime>[0]);
}

/** A directory of this file's own, by its real path. */
export function scratchDirectory(): { readonly path: string; make(name: string): string; remove(): void } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "prx-wasm-test-")));
  return {
    path,
    make: (name) => {
      mkdirSync(join(path, name), { recursive: true });
      return join(path, name);
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Makes something while the user's cache is another. */
export async function withCache<Made>(directory: string, make: () => Promise<Made>): Promise<Made> {
  const before = process.env["XDG_CACHE_HOME"];
  process.env["XDG_CACHE_HOME"] = directory;
  try {
    return await make();
  } finally {
    if (before === undefined) delete process.env["XDG_CACHE_HOME"];
    else process.env["XDG_CACHE_HOME"] = before;
  }
}

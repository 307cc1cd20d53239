/** Turns a module or component into files that a JavaScript engine runs: the work of jco, which is loaded for it only. */

import { readFile } from "node:fs/promises";
import { importedMemories } from "./cap-memory.ts";
import { checkCoreNames, isSafeName } from "./core-names.ts";
import { entryFile, type Manifest, manifestFile } from "./manifest.ts";
import { checkWorld } from "./world.ts";

export interface TranspileOptions {
  /** `module` is a core module of WASI preview 1, `component` a component of WASI preview 2. */
  readonly kind: "module" | "component";
}

/** What a cache keeps: names without directories, and contents. */
export interface Transpiled {
  readonly files: Readonly<Record<string, Uint8Array>>;
}

/**
 * Reads the binary and nothing else, and writes nothing.
 *
 * @throws Error which says what of the binary is invalid, or cannot be run, or is refused.
 */
export async function transpile(bytes: Uint8Array, options: TranspileOptions): Promise<Transpiled> {
  const { kind } = options;
  const component = kind === "component" ? bytes : await componentOf(bytes);
  checkCoreNames(component);
  const jco = await loadJco();
  const { files, imports, exports } = await jco.transpile(component, { ...transpileOptions });
  const names = [...imports, ...exports.map(([name]) => name)];
  const odd = names.find((name) => !isSafeName(name));
  if (odd !== undefined) throw new Error(`It imports or exports ${JSON.stringify(odd)}, which is no name`);
  checkWorld({ imports, exports: exports.map(([name]) => name) });
  const modules = Object.keys(files).filter((name) => name.endsWith(".wasm"));
  const manifest: Manifest = { kind, imports, modules };
  const entry = files["guest.js"];
  if (entry === undefined) throw new Error("jco made no JavaScript of it");
  const kept = Object.fromEntries(modules.map((name) => [name, files[name] ?? new Uint8Array()]));
  return { files: { ...kept, [entryFile]: entry, [manifestFile]: encoder.encode(JSON.stringify(manifest)) } };
}

const encoder = new TextEncoder();

const transpileOptions = {
  name: "guest",
  instantiation: "async",
  // Small core modules would be written into the JavaScript, where their memories keep their own limits.
  base64Cutoff: 0,
  emitTypescriptDeclarations: false,
} as const;

/** How a core module becomes a component: by the adapter that jco brings. */
async function componentOf(module: Uint8Array): Promise<Uint8Array> {
  const [memory] = importedMemories(module);
  if (memory !== undefined)
    throw new Error(`It imports a memory, ${JSON.stringify(memory)}, and nobody has one for it`);
  checkCoreNames(module);
  const jco = await loadJco();
  const adapter = await readFile(jco.preview1AdapterCommandPath());
  return await jco.componentNew(module, [["wasi_snapshot_preview1", adapter]]);
}

/** Optional, and 340 MB with all that it brings along: found missing here, where it is needed. */
function loadJco(): Promise<typeof import("@bytecodealliance/jco")> {
  return import("@bytecodealliance/jco");
}

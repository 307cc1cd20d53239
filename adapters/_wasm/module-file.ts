/** Which file a module is, and what is in it. */

import { createHash } from "node:crypto";
import { constants, readdirSync, realpathSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { isAbsolute, join, resolve, sep } from "node:path";
import { messageOf, RuntimeError } from "../../src/errors.ts";

/** A module's bytes, read once: what is checked is what is run. */
export interface ModuleFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes, in hexadecimal. */
  readonly digest: string;
}

/** Where modules are looked for. */
export interface ModulePlaces {
  /** `runtime.wasm.module_path`. */
  readonly modulePath: string;
  /** What a relative path begins at. */
  readonly workingDir: string;
}

/** More is no tool: the largest language runtimes have a tenth of it. */
const mostBytes = 512 * 1024 * 1024;

const pinned = /^(?:(.+)@)?sha256:([0-9a-f]{64})$/;

/**
 * A name with the content that it must have, where that is pinned.
 *
 * @example
 * ```ts
 * readModuleName(`tool@sha256:${"0".repeat(64)}`).name; // → "tool"
 * ```
 */
export function readModuleName(written: string): { readonly name: string | null; readonly digest: string | null } {
  const parts = pinned.exec(written);
  if (parts !== null) return { name: parts[1] ?? null, digest: parts[2] ?? null };
  if (/(^|@)sha256:/.test(written)) {
    const message = `Module ${JSON.stringify(written)}: a digest is "sha256:" and 64 hexadecimal digits in lower case`;
    throw new RuntimeError("invalid_request", message, { backend: "wasm" });
  }
  return { name: written, digest: null };
}

/**
 * Where a module of that name is: a path, or a name in `runtime.wasm.module_path`, with or without `.wasm`.
 *
 * @throws RuntimeError `command_not_found`.
 */
export function findModule(name: string, { modulePath, workingDir }: ModulePlaces): string {
  const isPath = name.includes("/") || name.includes(sep);
  const below = isAbsolute(name) ? name : join(modulePath, name);
  const places = isPath
    ? [isAbsolute(name) ? name : resolve(workingDir, name), ...(name.split(/[\\/]/).includes("..") ? [] : [below])]
    : [below, `${below}.wasm`];
  for (const place of places) {
    try {
      return realpathSync(place);
    } catch {}
  }
  throw notFound(`Module not found: ${name}: give the path of a .wasm file, or put one into ${modulePath}`);
}

/** @throws RuntimeError `not_executable` where another content is pinned. */
export function checkPin(
  { name, digest }: { readonly name: string; readonly digest: string },
  pin: string | null,
): void {
  if (pin === null || digest === pin) return;
  const message = `Module ${name} is not the one that is pinned: its digest is sha256:${digest}, and sha256:${pin} is asked for`;
  throw new RuntimeError("not_executable", message, { backend: "wasm" });
}

/**
 * The path of the module in `runtime.wasm.module_path` that has the digest.
 *
 * @throws RuntimeError `command_not_found`.
 */
export async function readByDigest(digest: string, modulePath: string): Promise<string> {
  let names: readonly string[] = [];
  try {
    names = readdirSync(modulePath);
  } catch {}
  for (const name of names) {
    if (!name.endsWith(".wasm")) continue;
    const module = await readModuleFile(join(modulePath, name), name).catch(() => null);
    if (module?.digest === digest) return realpathSync(module.path);
  }
  throw notFound(`Module not found: none in ${modulePath} has the digest sha256:${digest}`);
}

/**
 * @param name how errors call it
 * @throws RuntimeError `not_executable`
 */
export async function readModuleFile(path: string, name: string): Promise<ModuleFile> {
  let file: FileHandle | null = null;
  try {
    // A pipe would keep whoever opens it waiting.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error(stats.isDirectory() ? "it is a directory" : "it is no file");
    if (stats.size > mostBytes) throw new Error(`it has ${stats.size} bytes, and ${mostBytes} are the most`);
    const bytes = new Uint8Array(await file.readFile());
    return { path, bytes, digest: createHash("sha256").update(bytes).digest("hex") };
  } catch (error) {
    throw new RuntimeError("not_executable", `Module ${name} cannot be read: ${messageOf(error)}`, {
      backend: "wasm",
      cause: error,
    });
  } finally {
    await file?.close();
  }
}

function notFound(message: string): RuntimeError {
  return new RuntimeError("command_not_found", message, { backend: "wasm" });
}

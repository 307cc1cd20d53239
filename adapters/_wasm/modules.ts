/** Modules that were looked at, remembered as long as their files stay as they are. */

import { lstatSync } from "node:fs";
import { RuntimeError } from "../../src/errors.ts";
import type { Binary } from "./binary.ts";
import {
  checkPin,
  findModule,
  type ModulePlaces,
  readByDigest,
  readModuleFile,
  readModuleName,
} from "./module-file.ts";
import { checkBinary } from "./requirements.ts";

/** A module that can be run. Its bytes are read again when they are to be compiled. */
export interface LoadedModule {
  /** As it was asked for. */
  readonly name: string;
  readonly path: string;
  /** SHA-256 of the bytes, in hexadecimal. */
  readonly digest: string;
  readonly binary: Binary;
}

interface Known {
  readonly node: string;
  readonly module: LoadedModule;
}

export interface ModuleCache {
  /** @throws RuntimeError `command_not_found` or `not_executable`. */
  load(written: string): Promise<LoadedModule>;
  /** @throws RuntimeError `not_executable` where the file has become another since. */
  bytesOf(module: LoadedModule): Promise<Uint8Array>;
}

export function createModuleCache(places: ModulePlaces): ModuleCache {
  const known = new Map<string, Known>();
  const pathOf = new Map<string, string>();

  const loadAt = async (path: string, name: string): Promise<LoadedModule> => {
    const node = nodeOf(path);
    const before = known.get(path);
    if (before !== undefined && before.node === node) return { ...before.module, name };
    const { bytes, digest } = await readModuleFile(path, name);
    const module = { name, path, digest, binary: checkBinary(bytes, name) };
    if (node !== null) known.set(path, { node, module });
    return module;
  };
  return {
    async load(written) {
      const { name, digest } = readModuleName(written);
      if (name === null) return loadPinned(digest as string, written);
      const module = await loadAt(findModule(name, places), name);
      checkPin(module, digest);
      return module;
    },
    async bytesOf({ path, name, digest }) {
      const { bytes, digest: now } = await readModuleFile(path, name);
      if (now === digest) return bytes;
      throw new RuntimeError("not_executable", `Module ${name} was changed while it was about to be run`, {
        backend: "wasm",
      });
    },
  };

  async function loadPinned(digest: string, written: string): Promise<LoadedModule> {
    const before = pathOf.get(digest);
    const again = before === undefined ? null : await loadAt(before, written).catch(() => null);
    if (again?.digest === digest) return again;
    const path = await readByDigest(digest, places.modulePath);
    pathOf.set(digest, path);
    const module = await loadAt(path, written);
    checkPin(module, digest);
    return module;
  }
}

/** Changes with every change of the file. */
function nodeOf(path: string): string | null {
  try {
    // Deno knows the time of the last change by the second.
    const { dev, ino, size, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
    return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch {
    return null;
  }
}

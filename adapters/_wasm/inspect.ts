/** What a module is and asks for, for people: nothing of it is compiled or run. */

import { readdirSync } from "node:fs";
import { messageOf } from "../../src/errors.ts";
import { type Binary, readBinary } from "./binary.ts";
import {
  checkPin,
  findModule,
  type ModulePlaces,
  readByDigest,
  readModuleFile,
  readModuleName,
} from "./module-file.ts";
import { checkBinary } from "./requirements.ts";

/** A capability that `runtime.wasm.capabilities` grants, or every guest has. */
export type Wanted = "directories" | "variables" | "network" | "stdin" | "clocks" | "random";

/** A module as its sections tell of it. */
export interface ModuleReport {
  readonly name: string;
  readonly path: string;
  /** `sha256:` and 64 hexadecimal digits: what pins it. */
  readonly digest: string;
  /** `null` where it is neither. */
  readonly kind: Binary["kind"] | null;
  readonly world: string | null;
  readonly imports: readonly string[];
  readonly exports: readonly string[];
  /** That it begins with, in bytes. */
  readonly memoryBytes: number;
  /** By what it imports: whether it uses them only its code knows. */
  readonly wants: readonly Wanted[];
  /** Why it cannot be run, or `null`. */
  readonly problem: string | null;
}

/** @throws RuntimeError `command_not_found` or `not_executable` where there is no such file. */
export async function inspectModule(written: string, places: ModulePlaces): Promise<ModuleReport> {
  const { name, digest: pin } = readModuleName(written);
  const path = name === null ? await readByDigest(pin as string, places.modulePath) : findModule(name, places);
  const { bytes, digest } = await readModuleFile(path, name ?? written);
  const report = { name: name ?? written, path, digest: `sha256:${digest}` };
  try {
    checkPin({ name: report.name, digest }, pin);
    checkBinary(bytes, report.name);
    return { ...report, ...factsOf(readBinary(bytes)), problem: null };
  } catch (error) {
    return { ...report, ...factsIfAny(bytes), problem: messageOf(error) };
  }
}

/** The modules that stand in the directory, by the names under which they are run. */
export function modulesIn(modulePath: string): readonly string[] {
  try {
    return readdirSync(modulePath)
      .filter((name) => name.endsWith(".wasm"))
      .map((name) => name.slice(0, -".wasm".length))
      .sort();
  } catch {
    return [];
  }
}

type Facts = Pick<ModuleReport, "kind" | "world" | "imports" | "exports" | "memoryBytes" | "wants">;

const wishes: readonly (readonly [Wanted, RegExp])[] = [
  ["directories", /^wasi_snapshot_preview1\.path_|^wasi:filesystem\/preopens@/],
  ["variables", /^wasi_snapshot_preview1\.environ_|^wasi:cli\/environment@/],
  ["network", /^wasi_snapshot_preview1\.sock_|^wasi:sockets\//],
  ["stdin", /^wasi_snapshot_preview1\.fd_read$|^wasi:cli\/stdin@/],
  ["clocks", /^wasi_snapshot_preview1\.(?:clock_|poll_oneoff)|^wasi:clocks\//],
  ["random", /^wasi_snapshot_preview1\.random_|^wasi:random\//],
];

function factsOf({ kind, imports, exports, memories }: Binary): Facts {
  const names = imports.map(({ module, name }) => (module === "" ? name : `${module}.${name}`));
  return {
    ...{ kind, exports, imports: names },
    world: worldOf(kind, names, exports),
    memoryBytes: memories.reduce((sum, { minimum }) => sum + minimum, 0),
    wants: wishes.filter(([, pattern]) => names.some((name) => pattern.test(name))).map(([wanted]) => wanted),
  };
}

function worldOf(kind: Binary["kind"], imports: readonly string[], exports: readonly string[]): string | null {
  if (kind === "module")
    return imports.some((name) => name.startsWith("wasi_snapshot_preview1.")) ? "WASI preview 1" : null;
  const version = exports.map((name) => /^wasi:cli\/run@(.*)$/.exec(name)?.[1]).find((found) => found !== undefined);
  return version === undefined ? null : `wasi:cli/command@${version}`;
}

function factsIfAny(bytes: Uint8Array): Facts {
  try {
    return factsOf(readBinary(bytes));
  } catch {
    return { kind: null, world: null, imports: [], exports: [], memoryBytes: 0, wants: [] };
  }
}

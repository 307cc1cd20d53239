/** Which programs of engines this machine has. */

import { existsSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, isAbsolute, join } from "node:path";
import process from "node:process";
import type { WasmSettings } from "../wasm.fragment.ts";
import type { EngineName } from "./engine.ts";
import { thisRuntime } from "./this-runtime.ts";

/** An engine's program, which was not asked anything yet. */
export interface FoundProgram {
  readonly engine: EngineName;
  /** Real path of the program; of the package's manifest, where the engine is one. */
  readonly program: string;
}

/** What was found; where that is nothing, why and what helps. */
export interface FoundPrograms {
  readonly found: readonly FoundProgram[];
  readonly why: string;
  readonly remedy: string;
}

export interface ProgramPlaces {
  readonly path: string | undefined;
  /** Puts the user's home in the place of `~`. */
  readonly expand: (path: string) => string;
}

/** The engines that this version can run, in the order of `auto`. */
const known = ["wasmtime", "jco"] as const;

const remedy =
  "Install wasmtime (https://wasmtime.dev) or name it in runtime.wasm.wasmtime_program, or install the package @bytecodealliance/jco";

export function findPrograms(
  { engine, wasmtime_program }: WasmSettings,
  { path, expand }: ProgramPlaces,
): FoundPrograms {
  const wanted = known.filter((name) => engine === "auto" || engine === name);
  if (wanted.length === 0)
    return { found: [], why: `This version of prx-runtime does not hold the engine ${engine}`, remedy };
  const places = {
    wasmtime: () => (wasmtime_program === undefined ? onPath("wasmtime", path) : programAt(expand(wasmtime_program))),
    jco: findJco,
  };
  const found = wanted.flatMap((engine) => {
    const program = places[engine]();
    return program === null ? [] : [{ engine, program }];
  });
  const missing = {
    wasmtime: `There is no wasmtime ${wasmtime_program === undefined ? "on the PATH" : `at ${wasmtime_program}`}`,
    jco: "The package @bytecodealliance/jco is not installed, or this runtime cannot start another of its kind",
  };
  return { found, why: wanted.map((name) => missing[name]).join("; "), remedy };
}

/** The manifest of jco's package, where this runtime can run what jco makes. */
function findJco(): string | null {
  if (thisRuntime() === null) return null;
  try {
    // Its own manifest is none of what a package shows, so it is found beside what is.
    const entry = createRequire(import.meta.url).resolve("@bytecodealliance/jco");
    const manifest = join(entry, "..", "..", "package.json");
    return existsSync(manifest) ? manifest : null;
  } catch {
    return null;
  }
}

function onPath(name: string, path: string | undefined): string | null {
  for (const directory of (path ?? "").split(delimiter)) {
    // A relative one means another place to everybody.
    const program = isAbsolute(directory) ? programAt(join(directory, name)) : null;
    if (program !== null) return program;
  }
  return null;
}

/** The real path of an executable file; `null` for anything else. */
function programAt(path: string): string | null {
  try {
    const real = realpathSync(path);
    const stats = statSync(real);
    const isExecutable = process.platform === "win32" || (stats.mode & 0o111) !== 0;
    return stats.isFile() && isExecutable ? real : null;
  } catch {
    return null;
  }
}

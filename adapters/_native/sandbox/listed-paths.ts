/** The paths that the operator lists, as they are on this machine. */

import { join, resolve } from "node:path";
import { RuntimeError } from "../../../src/errors.ts";
import { defaultPath } from "../command-candidates.ts";
import { followPath, realPathOf } from "../real-path.ts";
import { systemPrograms } from "./system-paths.ts";
import { isBelow, type Mount } from "./view.ts";

/** `security.sandbox.writable_paths` and `.readonly_paths`. */
export interface ListedPaths {
  readonly writable_paths: readonly string[];
  readonly readonly_paths: readonly string[];
}

/** What makes no sandbox any more when it is shown, or cannot be shown by binding it. */
const refused = /^\/$|^\/(?:proc|sys|dev)(?:\/|$)/;

/** What decides about them. */
export interface ListedPathTerms {
  readonly home: string | null;
  /** Real paths that no command is to see. */
  readonly kept?: readonly string[];
  /** Directories in which this program looks for programs: the PATH. */
  readonly programs?: readonly string[];
}

/**
 * Each by its real path, and by the path that is listed where that is another.
 *
 * @throws RuntimeError `config_invalid` for a path that is missing or makes no sense, naming it.
 */
export function readListedPaths(
  listed: ListedPaths,
  { home, kept = [], programs = [] }: ListedPathTerms,
): readonly Mount[] {
  const run = placesOfPrograms(programs);
  const read = (key: keyof ListedPaths, kind: "writable" | "readonly") =>
    listed[key].flatMap((path, index) => {
      const where = `security.sandbox.${key}[${index}] = ${JSON.stringify(path)}`;
      const at = expandHome(path, home);
      if (at === null) throw wrong(homeless(where));
      const followed = followPath(at);
      if (followed === null) throw wrong(`${where}: there is no such path: make it, or leave it out`);
      const { real: source, links } = followed;
      if (refused.test(source)) throw wrong(`${where}: with it there is no sandbox left: name what is needed below it`);
      if (kept.some((place) => isBelow(source, place)))
        throw wrong(`${where}: there this program keeps its records of running commands: name another`);
      // As root a command could put a program there that the host finds first, and runs without a sandbox.
      const owner = run.find((place) => isBelow(source, place) || isBelow(place, source));
      if (kind === "writable" && owner !== undefined)
        throw wrong(`${where}: the host itself runs programs from ${owner}: list a place of its own`);
      const own: Mount = { kind, at: source, source };
      return at === source ? [own] : [own, { kind, at, source, links }];
    });
  // What is listed as both is writable.
  return [...read("readonly_paths", "readonly"), ...read("writable_paths", "writable")];
}

/** Where the system has programs and libraries, by real paths: of the PATH that alone is trusted with a sandbox program. */
function placesOfPrograms(path: readonly string[]): readonly string[] {
  const places = [...systemPrograms.filter((place) => place !== "/usr"), ...defaultPath.split(":"), ...path];
  return [...new Set(places.flatMap((place) => realPathOf(place) ?? []))].filter((place) =>
    systemPrograms.some((system) => isBelow(place, realPathOf(system) ?? system)),
  );
}

const homeless = (where: string) => `${where}: there is no home directory here: give an absolute path`;

function wrong(message: string): RuntimeError {
  return new RuntimeError("config_invalid", message, { backend: "native" });
}

/** `null` for a path below a home that is not there. */
function expandHome(path: string, home: string | null): string | null {
  if (!/^~(?:\/|$)/.test(path)) return resolve(path);
  return home === null ? null : join(home, path.slice(1));
}

/**
 * A program that the operator names by one path.
 *
 * @throws RuntimeError `config_invalid` below a home that is not there.
 */
export function readNamedProgram(key: string, path: string | undefined, home: string | null): string | undefined {
  if (path === undefined) return undefined;
  const file = expandHome(path, home);
  if (file === null) throw wrong(homeless(`security.sandbox.${key} = ${JSON.stringify(path)}`));
  return realPathOf(file) ?? file;
}

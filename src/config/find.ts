/** Where config.toml is looked for. The machine is seen through a port, so the order can be tested without one. */

import { messageOf, RuntimeError } from "../errors.ts";
import { parseTables } from "./toml.ts";

/** The machine as the search needs it. */
export interface ConfigPlaces {
  /** The file's text, `null` where there is no such file. Rejects where there is one that cannot be read. */
  readText(path: string): Promise<string | null>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly workingDir: string;
  /** The user's home; `null` where there is none. */
  readonly home: string | null;
  readonly isWindows: boolean;
}

/** Who named the file. */
export type ConfigOrigin = "flag" | "PRX_CONFIG" | "project" | "user";

/** A file that was found, and what was passed over on the way to it. */
export interface FoundConfig {
  readonly path: string;
  readonly text: string;
  readonly origin: ConfigOrigin;
}

/** The search's end: the file, or `null` for the defaults; and every path that was looked at, with what was there. */
export interface ConfigSearch {
  readonly found: FoundConfig | null;
  readonly looked: readonly { readonly path: string; readonly result: "used" | "missing" | "unrelated" }[];
}

/**
 * Looks for the configuration. The first of these is used, and no two are merged:
 *
 * 1. the path given as `flag`;
 * 2. the path in the variable `PRX_CONFIG`;
 * 3. in the working directory `prx-runtime.toml`, `.prx/config.toml`, and `config.toml` where one of its top-level tables
 *    is ours: that name is many programs';
 * 4. the user's own `prx-runtime/config.toml`, in `XDG_CONFIG_HOME` or `~/.config`, on Windows in `APPDATA`.
 *
 * The project's files rule what runs, so the working directory must be one whose owner is trusted. A command that worked there
 * may have made one all the same: two of them are an error, and so is one in the place of a user's own that asks for a sandbox.
 *
 * `flag` and `PRX_CONFIG` are absolute or relative to the working directory; `tables` are the top-level names that are ours.
 *
 * @throws RuntimeError `config_invalid` where a path that somebody named is not there, a file cannot be read, or it is not
 *   clear which one is meant.
 * @example
 * ```ts
 * const files: Record<string, string> = { "/project/config.toml": '[runtime]\nbackend = "native"' };
 * const places = {
 *   readText: async (path: string) => files[path] ?? null,
 *   ...{ env: {}, workingDir: "/project", home: "/home/me", isWindows: false },
 * };
 * const { found } = await findConfig(places, { tables: ["runtime", "tools", "security"] });
 * found?.path; // → "/project/config.toml"
 * ```
 */
export async function findConfig(
  places: ConfigPlaces,
  { flag, tables }: { readonly flag?: string | undefined; readonly tables: readonly string[] },
): Promise<ConfigSearch> {
  const named = namedPath(places, flag);
  const candidates = named === null ? defaultPaths(places) : [named];
  const looked: { path: string; result: "used" | "missing" | "unrelated" }[] = [];
  for (const { path, origin, shared } of candidates) {
    const text = await read(path, places);
    if (text === null && named !== null) throw new RuntimeError("config_invalid", missing(named));
    const isOurs = text !== null && (shared !== true || mentionsTables(text, tables));
    looked.push({ path, result: text === null ? "missing" : isOurs ? "used" : "unrelated" });
    if (!isOurs) continue;
    if (origin === "project") await refuseContested(path, candidates, { places, tables });
    return { found: { path, text, origin }, looked };
  }
  return { found: null, looked };
}

/**
 * The files that a start in this working directory may read, whatever names the one for this start: as far as they are there.
 * One that cannot be read is there.
 */
export async function standingConfigs(places: ConfigPlaces, tables: readonly string[]): Promise<readonly string[]> {
  const named = namedPath(places, undefined);
  const standing: string[] = [];
  for (const { path, shared } of [...(named === null ? [] : [named]), ...defaultPaths(places)]) {
    const text = await places.readText(path).catch(() => undefined);
    if (text !== null && (shared !== true || text === undefined || mentionsTables(text, tables))) standing.push(path);
  }
  return standing;
}

/** Where a configuration may be. */
export interface Candidate {
  readonly path: string;
  readonly origin: ConfigOrigin;
  /** Other programs use the name too. */
  readonly shared?: true;
}

function namedPath({ env, workingDir, isWindows }: ConfigPlaces, flag: string | undefined): Candidate | null {
  if (flag === "")
    throw new RuntimeError("config_invalid", "The path of the configuration is empty: name a file, or leave it out");
  if (flag !== undefined) return { path: resolve(workingDir, flag, isWindows), origin: "flag" };
  // An empty variable is one that somebody unset.
  const variable = env["PRX_CONFIG"];
  return variable ? { path: resolve(workingDir, variable, isWindows), origin: "PRX_CONFIG" } : null;
}

/** Those of a project, in a directory. */
export function projectPaths(directory: string): readonly Candidate[] {
  return [
    { path: join(directory, "prx-runtime.toml"), origin: "project" },
    { path: join(directory, ".prx/config.toml"), origin: "project" },
    { path: join(directory, "config.toml"), origin: "project", shared: true },
  ];
}

function defaultPaths({ env, workingDir, home, isWindows }: ConfigPlaces): readonly Candidate[] {
  const project = projectPaths(workingDir);
  const xdg = env["XDG_CONFIG_HOME"];
  // The XDG specification has relative paths ignored.
  const own = xdg && isAbsolute(xdg, isWindows) ? xdg : null;
  const standard = isWindows ? env["APPDATA"] || null : home === null ? null : join(home, ".config");
  const base = own ?? standard;
  return base === null ? project : [...project, { path: join(base, "prx-runtime/config.toml"), origin: "user" }];
}

/** @throws RuntimeError `config_invalid` where another file has as good a claim as the project's that was found. */
async function refuseContested(
  path: string,
  candidates: readonly Candidate[],
  { places, tables }: { readonly places: ConfigPlaces; readonly tables: readonly string[] },
): Promise<void> {
  for (const other of candidates) {
    if (other.path === path) continue;
    const text = await readBeside(path, other.path, places);
    if (text === null) continue;
    if (other.origin === "project" && (other.shared !== true || mentionsTables(text, tables))) {
      const which = `There are two configurations in the working directory, ${path} and ${other.path}`;
      throw new RuntimeError(
        "config_invalid",
        `${which}, and a command may have made one: remove it, or name the other`,
      );
    }
    if (other.origin === "user" && asksForSandbox(text)) {
      const which = `${path} would be used in the place of your own ${other.path}, which asks for a sandbox`;
      throw new RuntimeError("config_invalid", `${which}, and a command may have made it: name the one you mean`);
    }
  }
}

/** A command may also have taken away the right to read what it was ruled by: unreadable is not missing. */
async function readBeside(path: string, other: string, places: ConfigPlaces): Promise<string | null> {
  try {
    return await places.readText(other);
  } catch (cause) {
    const why = `${path} was found, but ${other} cannot be read and may be the one that is meant (${messageOf(cause)})`;
    throw new RuntimeError("config_invalid", `${why}: make it readable, remove it, or name the one you mean`, {
      cause,
    });
  }
}

/** What cannot be parsed may ask for anything. */
function asksForSandbox(toml: string): boolean {
  try {
    const { security } = parseTables(toml);
    const { sandbox } = (security ?? {}) as { readonly sandbox?: { readonly backend?: unknown } };
    return sandbox?.backend !== undefined && sandbox.backend !== "none";
  } catch {
    return true;
  }
}

function missing({ path, origin }: Candidate): string {
  const who = origin === "flag" ? "was named as the configuration" : "is named by the variable PRX_CONFIG";
  return `File ${path} ${who} and does not exist: create it, or name another`;
}

async function read(path: string, places: ConfigPlaces): Promise<string | null> {
  try {
    return await places.readText(path);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new RuntimeError("config_invalid", `Configuration ${path} cannot be read: ${reason}`, { cause });
  }
}

/** Whether one of the top-level tables has one of our names. What is no TOML is told by its headers. */
export function mentionsTables(toml: string, tables: readonly string[]): boolean {
  try {
    return Object.keys(parseTables(toml)).some((name) => tables.includes(name));
  } catch {
    return toml
      .split("\n")
      .some((line) => tables.includes(/^\s*\[{0,2}\s*"?([A-Za-z0-9_-]+)"?\s*[.\]=]/.exec(line)?.[1] ?? ""));
  }
}

function isAbsolute(path: string, isWindows: boolean): boolean {
  return path.startsWith("/") || (isWindows && /^(?:[A-Za-z]:[\\/]|\\)/.test(path));
}

function resolve(workingDir: string, path: string, isWindows: boolean): string {
  return isAbsolute(path, isWindows) ? path : join(workingDir, path);
}

function join(directory: string, path: string): string {
  return `${directory.replace(/[\\/]+$/, "")}/${path}`;
}

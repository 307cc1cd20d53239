/** Files of the host that rule what runs next: no command may change them, nor what leads to them. */

import { accessSync, constants, lstatSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readConfigText, systemConfigPlaces } from "../../../host/config-files.ts";
import { linkAt } from "../../../host/directory-walk.ts";
import { mentionsTables, projectPaths, standingConfigs } from "../../../src/config/find.ts";
import { type Config, configFile, configTables } from "../../../src/config.ts";
import { RuntimeError } from "../../../src/errors.ts";
import { realPathOf } from "../real-path.ts";

/** A file that is to stay as it is. */
export interface KeptFile {
  /** Its real path. */
  readonly real: string;
  /** Every link that leads to it, by the real path of its directory. */
  readonly links: readonly string[];
}

/** The configuration that was read, and those that the next start in this directory may read, with another flag or none. */
export async function keptConfigs(config: Config): Promise<readonly KeptFile[]> {
  const read = configFile(config);
  const standing = await standingConfigs(systemConfigPlaces(), configTables(config));
  const files = standing.filter((path) => mayBeFile(path));
  return [...new Set([...(read === null ? [] : [read]), ...files])].map(keptFile);
}

/** The configurations that stand in a directory, for a start there. */
export function configsIn(directory: string, tables: readonly string[]): readonly KeptFile[] {
  const standing = projectPaths(directory).filter(
    ({ path, shared }) => mayBeFile(path) && (shared !== true || mayMention(path, tables)),
  );
  return standing.map(({ path }) => keptFile(path));
}

/** What cannot be read may be one. */
function mayMention(path: string, tables: readonly string[]): boolean {
  try {
    const text = readConfigText(path);
    return text !== null && mentionsTables(text, tables);
  } catch {
    return true;
  }
}

function keptFile(path: string): KeptFile {
  // The one that was read may have gone since. What would be put in its place is kept all the same.
  const real = realPathOf(path) ?? join(realPathOf(dirname(path)) ?? dirname(path), basename(path));
  return { real, links: linksOn(path) };
}

/** The most links that one path may lead through, as in the kernel. */
const mostLinks = 40;

function linksOn(path: string): readonly string[] {
  const links: string[] = [];
  const names = path.split("/");
  let here = "/";
  for (let name = names.shift(); name !== undefined && links.length < mostLinks; name = names.shift()) {
    const next = join(here, name);
    const link = name === ".." ? null : linkAt(next);
    if (link === null) here = next;
    else {
      links.push(next);
      names.unshift(...link.split("/"));
      if (link.startsWith("/")) here = "/";
    }
  }
  return links;
}

/**
 * What is kept is kept by its name. By another one it could be written all the same, wherever that is.
 *
 * @param files absolute paths; what is not there has no other name
 * @throws RuntimeError `policy_unenforceable` for a file with a hard link
 */
export function refuseOtherNames(files: readonly string[]): void {
  for (const file of files) {
    const stats = statsOf(file);
    if (stats === undefined || !stats.isFile() || stats.nlink === 1 || !mayChange(file, stats)) continue;
    const message = `${file} is to stay as it is, and has another name (a hard link), by which a command may change it: replace it by a copy, as in cp -p ${file} copy && mv copy ${file}`;
    throw new RuntimeError("policy_unenforceable", message, { backend: "native" });
  }
}

/** A package store's files have many names, and are the administrator's. */
function mayChange(file: string, { uid }: Stats): boolean {
  if (uid === process.getuid?.()) return true;
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** What cannot be reached may be one: where a command could reach it, no sandbox is made. */
function mayBeFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch (error) {
    // The name of a directory may be that of a file.
    return !(error instanceof Error && "code" in error && error.code === "ENOTDIR");
  }
}

function statsOf(file: string): Stats | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

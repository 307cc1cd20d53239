/** What firejail's words depend on besides the view: gathered once, when it is found. */

import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { defaultPath } from "../command-candidates.ts";
import { realPathOf } from "../real-path.ts";
import { firejailSeccompFlags } from "../seccomp-filter.ts";
import { settingNames } from "./settings-copy.ts";

/** Programs that stand around firejail and inside of it; absolute. */
export interface FirejailTools {
  readonly sh: string;
  readonly env: string;
  readonly setpriv: string;
  readonly setsid: string;
  readonly unshare: string;
  readonly tail: string;
  readonly true: string;
  readonly rm: string;
  readonly mkdir: string;
  readonly ln: string;
  readonly nice: string;
}

export interface FirejailFacts {
  readonly uid: number;
  /** This process. */
  readonly hostPid: number;
  /** By the list of users: the one that firejail shows by itself, whatever `HOME` says. */
  readonly home: { readonly path: string; readonly isOwn: boolean };
  /** Of `/etc`: what is shown, and what in it is not for everybody. */
  readonly settings: { readonly shown: readonly string[]; readonly withheld: readonly string[] };
  /** A file of this host's: whoever sees it is in no sandbox. */
  readonly witness: string;
  /** A name that no directory has: to whitelist it shows nothing. Not to be guessed: others could make a link of that name. */
  readonly nothing: string;
  /** Options; `null` where this architecture has none. */
  readonly filter: readonly string[] | null;
  readonly tools: FirejailTools;
}

/** Its own processes beside a command: itself, the first one inside, and the shell there; for a user the two that watch and the one that began it. */
export function firejailPids(uid: number): number {
  return uid === 0 ? 3 : 6;
}

const needed = ["sh", "env", "setpriv", "setsid", "unshare", "tail", "true", "rm", "mkdir", "ln", "nice"] as const;

/**
 * @param settings the copies of the system's settings
 * @throws Error naming a program that is missing, or when this user has no entry in the list of users.
 */
export function findFirejailFacts(settings: string, ownDirectory: string): FirejailFacts {
  const uid = process.getuid?.() ?? 0;
  refuseShownDirectories();
  const witness = join(ownDirectory, "unseen");
  writeFileSync(witness, "", { mode: 0o600 });
  return {
    uid,
    hostPid: process.pid,
    home: homeOf(uid),
    settings: findSettings(settings),
    witness,
    nothing: `.prx-${crypto.randomUUID()}`,
    filter: firejailSeccompFlags(process.arch),
    tools: Object.fromEntries(needed.map((name) => [name, findTool(name)])) as Record<(typeof needed)[number], string>,
  };
}

/** An administrator can keep firejail from emptying directories of `/`, and it says nothing of it (fs_whitelist.c). */
function refuseShownDirectories(): void {
  for (const file of ["/etc/firejail/firejail.config", "/usr/local/etc/firejail/firejail.config"]) {
    const line = exists(file) ? /^\s*whitelist-disable-topdir\s.*$/m.exec(readFileSync(file, "utf8"))?.[0] : undefined;
    if (line !== undefined) throw new Error(`Directories stay visible by ${file}: ${line.trim()}`);
  }
}

/** Of the system alone: inside there is nothing else for sure. */
function findTool(name: string): string {
  const found = defaultPath
    .split(":")
    .map((directory) => join(directory, name))
    .find(isFile);
  if (found === undefined) throw new Error(`There is no program ${name} in ${defaultPath}`);
  return found;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Asked of the system, as firejail does: JavaScript runtimes answer with `HOME` instead. */
function homeOf(uid: number): FirejailFacts["home"] {
  const entry = execFileSync(findTool("getent"), ["passwd", String(uid)], { encoding: "utf8", env: {} });
  const path = entry.trim().split(":")[5] ?? "";
  if (!path.startsWith("/")) throw new Error(`The user ${uid} has no home directory in the list of users`);
  try {
    return { path, isOwn: statSync(path).uid === uid };
  } catch {
    return { path, isOwn: false };
  }
}

function findSettings(copies: string): FirejailFacts["settings"] {
  const shown = settingNames("/etc")
    .filter((name) => exists(join(copies, name)))
    .map((name) => join("/etc", name))
    // The mounts that are seen are those of whoever looks: no link can say that by a number.
    .filter((path) => !(realPathOf(path) ?? path).startsWith("/proc/"));
  const elsewhere = shown.map((path) => realPathOf(path) ?? path).filter((path) => !/^\/(?:etc|usr)\//.test(path));
  return { shown: [...shown, ...elsewhere], withheld: shown.flatMap(notForEverybody) };
}

function notForEverybody(path: string): readonly string[] {
  try {
    const stats = lstatSync(path);
    if (stats.isSymbolicLink()) return [];
    const mask = stats.isDirectory() ? 0o005 : 0o004;
    if ((stats.mode & mask) !== mask) return [path];
    return stats.isDirectory() ? readdirSync(path).flatMap((name) => notForEverybody(join(path, name))) : [];
  } catch {
    return [path];
  }
}

function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

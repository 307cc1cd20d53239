/** Which sandbox program works here: found by running it, with the very options that commands get. */

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { messageOf } from "../../../src/errors.ts";
import { commandCandidates, defaultPath } from "../command-candidates.ts";
import { realPathOf } from "../real-path.ts";
import { bubblewrap } from "./bubblewrap.ts";
import { type Cause, causeOf, missing, unfit } from "./causes.ts";
import { firejail } from "./firejail.ts";
import { findFirejailFacts } from "./firejail-facts.ts";
import { projectPlaces } from "./lower-sandbox.ts";
import { probeSandbox } from "./probe.ts";
import { keyFiles, type SandboxProgram } from "./sandbox-program.ts";
import { systemPrograms } from "./system-paths.ts";
import { isBelow, type Mount } from "./view.ts";

export type SandboxName = SandboxProgram["name"];

/** What a search needs. */
export interface SandboxSearch {
  /** Tried in this order; the first that works is taken. */
  readonly names: readonly SandboxName[];
  /** The operator's own. */
  readonly path: string | undefined;
  /** What the operator names in place of a search, by an absolute path. */
  readonly named: Readonly<Record<SandboxName, string | undefined>>;
  /** The copies of the system's settings. */
  readonly settings: string;
  /** The system as commands will see it, but for its settings. */
  readonly system: readonly Mount[];
  /** Real paths that commands may write: a program in one may be theirs. */
  readonly writable: readonly string[];
  /** Where this host's files are. */
  readonly ownDirectory: string;
  readonly filter: Uint8Array | null;
}

/** What was found, with every program that does not work and why. */
export interface SandboxSearchResult {
  readonly program: SandboxProgram | null;
  readonly refused: readonly (Cause & { readonly name: SandboxName })[];
}

interface ProgramKind {
  readonly command: string;
  /** @throws Error when something is missing that it needs. */
  readonly make: (file: string, search: SandboxSearch) => SandboxProgram;
}

const programs: Readonly<Record<SandboxName, ProgramKind>> = {
  bubblewrap: {
    command: "bwrap",
    make: (file, { filter }) => bubblewrap(file, { filtered: filter !== null, strayEnv, kernelFiles: kernelFiles() }),
  },
  firejail: {
    command: "firejail",
    make: (file, { settings, ownDirectory }) => firejail(file, findFirejailFacts(settings, ownDirectory)),
  },
};

/** By which Deno tells a child that is Deno too of the descriptors it was handed. */
const strayEnv = "Deno" in globalThis ? ["DENO_EXTRA_STDIO_FDS"] : [];

/**
 * What root may write in /proc by being root, and bubblewrap leaves so: the kernel asks there for the owner and for no
 * capability. A core_pattern written in a sandbox is a program that runs outside of it. Docker keeps the same from its containers.
 * And what tells anybody of the keys that the host's user has.
 */
function kernelFiles(): readonly string[] {
  const roots =
    process.geteuid?.() === 0 ? ["sys", "fs", "acpi", "scsi", "asound", "mtrr"].map((name) => `/proc/${name}`) : [];
  return [...roots, ...keyFiles].filter((path) => existsSync(path));
}

export async function findSandbox(search: SandboxSearch): Promise<SandboxSearchResult> {
  const refused: (Cause & { name: SandboxName })[] = [];
  for (const name of search.names) {
    const { command, make } = programs[name];
    const named = search.named[name];
    const isFit = (file: string) => isProgram(file) && !isOwned(file, search.writable);
    const file = named ?? findProgram(command, search.path ?? defaultPath, isFit);
    if (file === null || !isFit(file)) {
      refused.push({ name, ...(named === undefined ? missing(name, command) : unfit(name, named)) });
      continue;
    }
    try {
      const program = make(file, search);
      const cause = await probeSandbox(program, search);
      if (cause === null) return { program, refused };
      refused.push({ name, ...cause });
    } catch (error) {
      refused.push({ name, ...causeOf(name, messageOf(error)) });
    }
  }
  return { program: null, refused };
}

/**
 * This program runs on the host itself, so no command is to have made it: whatever else is on the PATH, commands may work there,
 * and what root's commands make is root's.
 */
function findProgram(command: string, path: string, isFit: (file: string) => boolean): string | null {
  const trusted = path.split(":").filter((entry) => entry.startsWith("/") && isSystems(entry));
  const search = { platform: "linux", workingDir: "/", env: { PATH: trusted.join(":") } };
  return trusted.length === 0 ? null : (commandCandidates(command, search).find(isFit) ?? null);
}

/** Where no command can write in any sandbox: the system's own places, of which no working directory can be a part. */
function isSystems(directory: string): boolean {
  const real = realPathOf(directory);
  if (real === null || projectPlaces.some((place) => isBelow(real, place))) return false;
  return systemPrograms.some((place) => isBelow(real, place));
}

function isOwned(file: string, writable: readonly string[]): boolean {
  const real = realPathOf(file) ?? file;
  return writable.some((place) => isBelow(file, place) || isBelow(real, place));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    const stats = statSync(file);
    return stats.isFile() && stats.uid === 0 && (stats.mode & 0o022) === 0;
  } catch {
    return false;
  }
}

/** The sandbox that the operator asks for, as it can be had on this machine. */

import { readFileSync } from "node:fs";
import process from "node:process";
import { findOwnProgram } from "../../../host/own-program.ts";
import { type Config, configTables } from "../../../src/config.ts";
import type { Availability } from "../../../src/types.ts";
import { type FollowedPath, followPath, realPathOf } from "../real-path.ts";
import { seccompFilter } from "../seccomp-filter.ts";
import { findSandbox, type SandboxName } from "./find-sandbox.ts";
import { configsIn, keptConfigs } from "./kept-files.ts";
import { readListedPaths, readNamedProgram } from "./listed-paths.ts";
import type { SandboxFacts } from "./lower-sandbox.ts";
import { copySettings } from "./settings-copy.ts";
import { findSystemPaths } from "./system-paths.ts";
import { findToolchains } from "./toolchains.ts";

type Unavailable = Availability & { readonly available: false };

/** A sandbox that works, or none because none was asked for; or why there can be no command at all. */
export type PreparedSandbox =
  | { readonly facts: SandboxFacts | null; readonly unavailable: null }
  | { readonly facts: null; readonly unavailable: Unavailable };

export interface SandboxPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** This host's own directory. */
  readonly ownDirectory: string;
  /** Where all hosts of this user have theirs. */
  readonly stateDirectory: string;
}

const candidates: Readonly<Record<"bubblewrap" | "firejail" | "auto", readonly SandboxName[]>> = {
  bubblewrap: ["bubblewrap"],
  firejail: ["firejail"],
  auto: ["bubblewrap", "firejail"],
};

/** @throws RuntimeError `config_invalid` for a listed path that cannot be shown. */
export async function prepareSandbox(config: Config, place: SandboxPlace): Promise<PreparedSandbox> {
  const { sandbox } = config.security;
  if (sandbox.backend === "none") return { facts: null, unavailable: null };
  if (process.platform !== "linux") {
    const reason = `There is no ${sandbox.backend} on ${process.platform}: sandboxes are for Linux`;
    return { facts: null, unavailable: { available: false, reason, remedy: "Choose another backend" } };
  }
  const filter = seccompFilter(process.arch);
  const home = absoluteOrNull(place.env["HOME"]);
  const { real: stateDirectory, links: stateLinks } = followed(place.stateDirectory);
  const { real: ownDirectory } = followed(place.ownDirectory);
  const system = findSystemPaths();
  const path = place.env["PATH"] ?? "";
  const programs = path.split(":").filter((entry) => entry.startsWith("/"));
  const listed = readListedPaths(sandbox, { home, kept: [stateDirectory], programs });
  const writable = listed.flatMap((mount) => (mount.kind === "writable" ? [mount.source] : []));
  const toolchains = findToolchains({ path, home, system: system.always, env: place.env });
  const mounts = [...system.always, ...system.withNetwork, ...toolchains, ...listed];
  const settings = copySettings(ownDirectory, mounts);
  const found = await findSandbox({
    names: candidates[sandbox.backend],
    path: place.env["PATH"],
    named: {
      bubblewrap: readNamedProgram("bubblewrap_program", sandbox.bubblewrap_program, home),
      firejail: readNamedProgram("firejail_program", sandbox.firejail_program, home),
    },
    settings: settings.directory,
    system: system.always,
    writable,
    ownDirectory,
    filter,
  });
  if (found.program === null) {
    const reason = found.refused.map((cause) => cause.reason).join("; ");
    const remedy = found.refused.map((cause) => cause.remedy).join("; or ");
    const sandboxed = `No sandbox can be put around commands, as security.sandbox.backend = "${sandbox.backend}" asks: ${reason}`;
    return { facts: null, unavailable: { available: false, reason: sandboxed, remedy } };
  }
  const { program } = found;
  const own = {
    configFiles: [
      ...(await keptConfigs(config)),
      ...writable.flatMap((place) => configsIn(place, configTables(config))),
    ],
    configTables: configTables(config),
    ownProgram: findOwnProgram(),
    homes: [home, listedHome()].flatMap((path) => (path === null ? [] : [path, realPathOf(path) ?? path])),
    stateDirectory,
    stateLinks,
    ownDirectory,
  };
  const protectedPaths = sandbox.protected_paths;
  const facts = { program, system, settings, toolchains, listed, protectedPaths, filter, ...own };
  return { facts, unavailable: null };
}

/** Inside of the sandbox, and where it is compared with listed paths, a place has one name. */
function followed(path: string): FollowedPath {
  return followPath(path) ?? { real: path, links: [] };
}

/** By the list of users: a service has no HOME, and that of others may be set. */
function listedHome(): string | null {
  try {
    const users = readFileSync("/etc/passwd", "utf8").split("\n");
    const [, , , , , home] =
      users.map((line) => line.split(":")).find(([, , uid]) => uid === String(process.getuid?.())) ?? [];
    // Where nobody lives, as many services do, there is nothing to be kept.
    return home === "/" ? null : absoluteOrNull(home);
  } catch {
    return null;
  }
}

function absoluteOrNull(path: string | undefined): string | null {
  return path?.startsWith("/") ? path : null;
}

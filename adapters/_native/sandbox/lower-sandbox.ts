/** A plan as a sandbox: what is seen in it, and what of the policy it keeps. Pure. */

import { posix } from "node:path";
import type { OwnProgram } from "../../../host/own-program.ts";
import type { ExecutionPlan, Verdict } from "../../../src/types.ts";
import type { KeptFile } from "./kept-files.ts";
import { keptOf, ownsItself } from "./own-program.ts";
import type { SandboxProgram } from "./sandbox-program.ts";
import type { SettingsCopy } from "./settings-copy.ts";
import type { SystemPaths } from "./system-paths.ts";
import { composeView, isBelow, isWritable, type Mount, ownPlaces, type SandboxView } from "./view.ts";

/** Which names a sandbox keeps as they are. */
export interface Protection {
  /** In the working directory, relative to it. */
  readonly names: readonly string[];
  /** Anywhere else, by real paths. */
  readonly elsewhere: readonly string[];
  /** Directories that keep their places, by real paths: nobody can make what is not to be in them. */
  readonly pins: readonly string[];
}

/** What was found of this machine, and what the operator lists. */
export interface SandboxFacts {
  readonly program: SandboxProgram;
  readonly system: SystemPaths;
  readonly settings: SettingsCopy;
  readonly toolchains: readonly Mount[];
  readonly listed: readonly Mount[];
  /** Relative to the working directory. */
  readonly protectedPaths: readonly string[];
  /** What stands for them where one directory asks for others. @default they themselves */
  readonly protection?: Protection;
  /** The file that rules all this, and those that may rule the next start. */
  readonly configFiles: readonly KeptFile[];
  /** By which a configuration is told from a file of another program that has its name. */
  readonly configTables: readonly string[];
  /** What all this is done by. */
  readonly ownProgram: OwnProgram;
  /** The operator's home, by its name and by its real path. */
  readonly homes: readonly string[];
  /** Where this user's hosts keep their records. */
  readonly stateDirectory: string;
  /** The links that lead there by the name it was given, each by its own place. */
  readonly stateLinks: readonly string[];
  /** This host's own place in it, which no command sees. */
  readonly ownDirectory: string;
  /** The system call filter; `null` where this architecture has none. */
  readonly filter: Uint8Array | null;
}

/** What stands around one command. */
export interface SandboxArtifact
  extends Pick<SandboxFacts, "program" | "settings" | "ownDirectory" | "filter" | "configTables"> {
  readonly view: SandboxView;
  readonly protectedPaths: readonly string[];
  /** Files that stay as they are, wherever they are. */
  readonly keptFiles: readonly string[];
}

/** Stands for the directory that is made when the command starts. */
const unmade = "/tmp/(private directory)";

/** @param workingDir `null`: a directory that is not made yet */
export function lowerSandbox(plan: ExecutionPlan, facts: SandboxFacts, workingDir: string | null): SandboxArtifact {
  const network = plan.network === "all";
  const etc: Mount = { kind: "readonly", at: "/etc", source: facts.settings.directory, isSystem: true };
  const { names, elsewhere, pins } = facts.protection ?? { names: facts.protectedPaths, elsewhere: [], pins: [] };
  const keptFiles = [...facts.configFiles.map(({ real }) => real), ...elsewhere];
  const view = composeView({
    system: [etc, ...facts.system.always, ...(network ? facts.system.withNetwork : [])],
    toolchains: facts.toolchains,
    listed: facts.listed,
    workingDir: workingDir ?? unmade,
    home: normalHome(plan.env["HOME"]),
    protectedPaths: names,
    pins,
    keptFiles: [...keptFiles, ...keptOf(facts.ownProgram, workingDir, facts.listed)],
    hidden: [facts.stateDirectory],
    network,
  });
  const { program, settings, ownDirectory, filter, configTables, protectedPaths } = facts;
  const wholeFiles = [...keptFiles, ...readonlyOf(facts.listed)];
  return { program, settings, ownDirectory, filter, configTables, view, protectedPaths, keptFiles: wholeFiles };
}

function readonlyOf(listed: readonly Mount[]): readonly string[] {
  const sources = (wanted: Mount["kind"]) =>
    listed.flatMap((mount) => ("source" in mount && mount.kind === wanted ? [mount.source] : []));
  const writable = sources("writable");
  return sources("readonly").filter((source) => !writable.includes(source));
}

/** As it is written it may lead around what is compared with it. */
function normalHome(home: string | undefined): string | null {
  return home?.startsWith("/") ? posix.resolve(home) : null;
}

/** For the three clauses of isolation that a sandbox is there for. */
export function sandboxVerdicts(
  { network, filesystem, privilege, workingDir }: ExecutionPlan,
  facts: SandboxFacts,
  { view }: SandboxArtifact,
): Readonly<Record<"network" | "filesystem" | "privilege", Verdict>> {
  const { name } = facts.program;
  const enforced = (because: string): Verdict => ({ grade: "enforced", because });
  const tooWide = workingDir === null ? null : showsTooMuch(workingDir, facts);
  const owned =
    ownsProgram(view, facts.program) ??
    ownsItself(view, facts.ownProgram) ??
    ownsConfig(view, facts.configFiles) ??
    ownsLink(view, facts);
  const cannot = owned ?? facts.program.cannot(view);
  const withoutNetwork = enforced(`${name} gives it a network of its own, with nothing but its loopback`);
  return {
    network:
      network === "all"
        ? enforced("The command has the host's network, as asked")
        : { ...withoutNetwork, grade: network === "none" ? "enforced" : "stronger" },
    filesystem: workspaceVerdict(filesystem, tooWide ?? cannot, name),
    privilege:
      facts.filter !== null || privilege === "host"
        ? enforced(`${name} leaves it no capability and no way to gain one, and filters its system calls`)
        : { grade: "weaker", because: "There is no system call filter for this architecture" },
  };
}

/** Whether the command could put another program in the place of the one that shuts it in. */
function ownsProgram({ mounts }: SandboxView, { file }: SandboxProgram): string | null {
  const owner = mounts.find((mount) => mount.kind === "writable" && isBelow(file, mount.source));
  if (owner === undefined) return null;
  return `The command can write ${owner.at}, where the sandbox program ${file} is: keep it elsewhere`;
}

/** What a link leads to can be kept as it is, and the link cannot. */
export function ownsConfig({ mounts }: SandboxView, configFiles: readonly KeptFile[]): string | null {
  for (const { real, links } of configFiles) {
    for (const link of links) {
      const owner = mounts.find((mount) => mount.kind === "writable" && isBelow(link, mount.source));
      if (owner === undefined) continue;
      return `The command can write ${owner.at}, where the configuration ${real}, or what leads to it, is the link ${link}: put what it leads to in its place, or name that`;
    }
  }
  return null;
}

/** The next start would follow the link to wherever the command has it lead. */
function ownsLink({ mounts }: SandboxView, { listed, stateLinks }: SandboxFacts): string | null {
  const named = listed.flatMap(({ at, ...mount }) =>
    "links" in mount ? (mount.links ?? []).map((link) => ({ link, of: `${at} is listed` })) : [],
  );
  const guides = [...named, ...stateLinks.map((link) => ({ link, of: "the host's records are found" }))];
  const owned = guides.find(({ link }) => isWritable(link, mounts));
  if (owned === undefined) return null;
  return `The command could replace the link ${owned.link}, by which ${owned.of}: name what it leads to`;
}

function workspaceVerdict(asked: string, tooWide: string | null, name: string): Verdict {
  if (asked === "none") return { grade: "weaker", because: "The command sees its working directory" };
  if (tooWide !== null) return { grade: "weaker", because: tooWide };
  return {
    grade: asked === "host" ? "stronger" : "enforced",
    because: `${name} shows it the working directory, the system's programs, and what is listed`,
  };
}

/** Whether a working directory would show, writable, what a sandbox is there to keep. */
function showsTooMuch(workingDir: string, { homes, system, stateDirectory }: SandboxFacts): string | null {
  if (homes.some((home) => isBelow(home, workingDir))) {
    return `The working directory ${workingDir} holds the home directory, which a sandbox keeps private: choose a directory below it`;
  }
  const kept = [...system.always.map(({ at }) => at), ...system.always.flatMap((mount) => sourceOf(mount))];
  const held = [...ownPlaces, ...kept, stateDirectory].find((place) => isBelow(place, workingDir));
  if (held !== undefined) {
    return `The working directory ${workingDir} holds ${held}, which a sandbox keeps as it is: choose a directory of its own`;
  }
  const around = [...systemPlaces, ...kept, stateDirectory].find((place) => isBelow(workingDir, place));
  if (around === undefined || projectPlaces.some((place) => isBelow(workingDir, place))) return null;
  return `The working directory ${workingDir} is a part of ${around}, which a sandbox keeps as it is: choose a directory of its own`;
}

/** Whatever is below them is the machine's own. */
const systemPlaces = ["/proc", "/sys", "/dev", "/etc", "/boot", "/run"];
/** Where people put their own all the same: sources and services by hier(7), and the temporary files of a session. */
export const projectPlaces = ["/usr/src", "/usr/local/src", "/run/user"];

function sourceOf(mount: Mount): readonly string[] {
  return mount.kind === "readonly" ? [mount.source] : [];
}

/** For people: what is seen and what can be written. */
export function describeSandbox({ mounts, network }: SandboxView, { program }: SandboxFacts): string {
  const list = (kind: Mount["kind"]) =>
    mounts
      .filter((mount) => mount.kind === kind)
      .map(({ at }) => at)
      .join(" ") || "nothing";
  return [
    `sandboxed by ${program.name}, ${network ? "with the host's network" : "without a network"}`,
    `  writable: ${list("writable")}`,
    `  its own, empty at first: ${list("private")}`,
    `  read-only: ${list("readonly")}`,
  ].join("\n");
}

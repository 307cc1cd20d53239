/** The port for a program that puts a sandbox around a command. */

import type { SandboxView } from "./view.ts";

/** One of the programs, as it was found on this machine. */
export interface SandboxProgram {
  readonly name: "bubblewrap" | "firejail";
  /** Absolute. */
  readonly file: string;
  /** What stands in front of the command. Pure. */
  wrap(view: SandboxView, env: Readonly<Record<string, string>>): Wrapping;
  /** Variables that it sets by itself. */
  readonly addedEnv: readonly string[];
  /** How its own complaints begin on stderr. */
  readonly complaint: string;
  /** Reads what it wrote to {@link statusPlace}. */
  readStatus(text: string): SandboxStatus;
}

/** What a program's words depend on besides the view. */
export interface ProgramSetting {
  /** Whether a system call filter is handed over. */
  readonly filtered: boolean;
  /** Variables that the JavaScript runtime adds when it hands over descriptors. */
  readonly strayEnv: readonly string[];
  /** Parts of /proc by which root changes the kernel, without any capability. */
  readonly kernelFiles: readonly string[];
}

/** A command's surroundings in a program's words. */
export interface Wrapping {
  readonly words: readonly [string, ...string[]];
  /** What the program itself is started with: nothing by which its loader could be made to run something before the sandbox is shut. */
  readonly env: Readonly<Record<string, string>>;
}

/** What a sandbox program told of one run. */
export interface SandboxStatus {
  /** The first process inside, by its number outside. With it everything inside ends. */
  readonly initPid: number | null;
  /** The command was run and ended by itself. */
  readonly ended: boolean;
}

/** The descriptor at which a program finds the system call filter, and the one it writes its status to. */
export const filterPlace = 3;
export const statusPlace = 4;

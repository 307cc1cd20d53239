/** The port for a program that puts a sandbox around a command. */

import type { SandboxView } from "./view.ts";

/** One of the programs, as it was found on this machine. */
export interface SandboxProgram {
  readonly name: "bubblewrap" | "firejail";
  /** Absolute. */
  readonly file: string;
  /** The command with everything around it. Pure. */
  wrap(view: SandboxView, command: SandboxedCommand): Wrapping;
  /** Why it cannot keep to a view, or `null`. Pure. */
  cannot(view: SandboxView): string | null;
  /** Variables that it sets by itself. */
  readonly addedEnv: readonly string[];
  /** Its own processes that run beside the command. */
  readonly pids: number;
  /** Whether its status comes to name the first process inside. */
  readonly namesInit: boolean;
  /** Whether it can hold a command back until what was mounted has been looked at from outside. */
  readonly canHold: boolean;
  /** Whether it cannot tell a command that was not executed from one that says so, and has to look before. */
  readonly looksAhead: boolean;
  /** How its own complaints begin on stderr; `null` where they never get there. */
  readonly complaint: string | null;
  /** Reads what it wrote to {@link statusPlace}. */
  readStatus(text: string): SandboxStatus;
}

/** What a program's words depend on besides the view. */
export interface ProgramSetting {
  /** Whether a system call filter is handed over. */
  readonly filtered: boolean;
  /** Variables that the JavaScript runtime adds when it hands over descriptors. */
  readonly strayEnv: readonly string[];
  /** Parts of /proc by which root changes the kernel, without any capability; and {@link keyFiles}, as far as they are there. */
  readonly kernelFiles: readonly string[];
}

/** What runs inside, and all that it is to have in its environment. */
export interface SandboxedCommand {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Whether it waits at {@link inputPlace} for a byte when all is mounted; by a program that {@link SandboxProgram.canHold}. */
  readonly isHeld?: boolean;
  /** What has to be seen for it to be executed, where {@link SandboxProgram.looksAhead}. @default nothing */
  readonly needs?: readonly string[];
}

/** A command in a program's words. */
export interface Wrapping {
  readonly words: readonly [string, ...string[]];
  /** What the program itself is started with: nothing by which its loader could be made to run something before the sandbox is shut. */
  readonly env: Readonly<Record<string, string>>;
  /** Texts that it finds as open files, at {@link inputPlace} and the places after it. */
  readonly inputs: readonly string[];
  /** A real path of the host, whose directory it finds held at the place after the inputs: to compare what it mounted with. */
  readonly holds?: string;
}

/** What a sandbox program told of one run. */
export interface SandboxStatus {
  /** The first process inside, by its number outside. With it everything inside ends. */
  readonly initPid: number | null;
  /** From here on the exit is the command's: it was run, and no complaint of the program's can follow. */
  readonly ended: boolean;
  /** What it complained about, where it does that here. */
  readonly said: string;
}

/** The descriptor at which a program finds the system call filter, the one it writes its status to, and the first of its inputs. */
export const filterPlace = 3;
export const statusPlace = 4;
export const inputPlace = 5;

/** What the kernel tells of the keys that the user has on the host, by their descriptions (keyrings(7)): nothing for a command. */
export const keyFiles: readonly string[] = ["/proc/keys", "/proc/key-users"];

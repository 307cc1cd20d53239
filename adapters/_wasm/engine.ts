/** The port for what runs a module: a program that is told by its arguments what the guest may have. */

import type { ExecutionPlan, ExitKind, Warning } from "../../src/types.ts";
import type { Binary } from "./binary.ts";

export type EngineName = "jco" | "wasmtime" | "wasmer";

/** A directory that a guest is given. */
export interface Preopen {
  /** By which the engine's process finds it. */
  readonly host: string;
  /** How the guest calls it. */
  readonly guest: string;
  readonly writable: boolean;
}

/** One run of a module. */
export interface EngineRun {
  readonly plan: ExecutionPlan;
  /** What {@link Engine.compile} made of the module. */
  readonly artifact: string;
  readonly binary: Pick<Binary, "kind" | "memories" | "tables">;
  readonly preopens: readonly Preopen[];
  /** Where {@link EngineCommand.handover} is put; `null` where the engine takes none. */
  readonly handover: string | null;
}

/** What the engine's process is started with. */
export interface EngineCommand {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** What the engine is told by a file. @default nothing */
  readonly handover?: string;
}

/** How a guest ended, by all that is known once its engine's process is over. */
export interface GuestEnd {
  readonly exit: ExitKind;
  readonly kind: Binary["kind"];
  /** The exit code that the guest's last words on stderr told, where they did. */
  readonly note: number | null;
  /** The end of what was written to stderr. */
  readonly lastWords: string;
}

/** An engine that was found on this machine. */
export interface Engine {
  readonly name: EngineName;
  readonly program: string;
  readonly version: string;
  /** Whether a directory that is given to be read cannot be written, by the engine's own doing. */
  readonly keepsReadOnly: boolean;
  /** Why it cannot run such a binary, as the end of a sentence that begins with its name; `null` where it can. */
  refuses(binary: Pick<Binary, "kind">): string | null;
  /** Whether it finds a directory by a descriptor of another process (proc(5)). */
  readonly opensDescriptors: boolean;
  /** Whether it is told of a run by a file. */
  readonly handsOver: boolean;
  /** Names what a module is compiled to, by everything that it depends on. */
  keyOf(module: { readonly digest: string }): string;
  /** Pure: the module as it is given to {@link compile}. */
  prepared(bytes: Uint8Array): Uint8Array;
  /** Compiles `module.wasm` of its working directory into `module.bin`, a file or a directory. */
  compile(kind: Binary["kind"]): EngineCommand;
  command(run: EngineRun): EngineCommand;
  ending(end: GuestEnd): ExitKind & { readonly warnings?: readonly Warning[] };
}

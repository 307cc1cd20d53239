/** What the contract suite needs to know of a backend, and what a case is given. */

import type { ExecuteOptions, ExecutionEvent, ExecutionOutput, Runtime } from "../../src/runtime-types.ts";
import type { Capabilities } from "../../src/types.ts";
import type { FixtureName, Invocation } from "./programs.ts";

/** Part of a configuration, with the keys of config.toml. */
export interface ContractConfig {
  readonly runtime?: Readonly<Record<string, unknown>>;
  readonly security?: Readonly<Record<string, unknown>>;
  readonly tools?: Readonly<Record<string, unknown>>;
}

/** A directory that requests can name as their working directory. Paths are relative to it. */
export interface ContractDirectory {
  /** Absolute, as requests name it; without symbolic links. */
  readonly path: string;
  /** As a command there sees it. @default the same path */
  readonly seenAs?: string;
  write(path: string, content: string, options?: { readonly executable?: boolean }): Promise<void>;
  /** `null` where there is none. */
  read(path: string): Promise<string | null>;
  makeDirectory(path: string): Promise<void>;
  link(path: string, target: string): Promise<void>;
  remove(): Promise<void>;
}

/** A backend under test. */
export interface ContractTarget {
  /** Names it in titles and in the matrix. */
  readonly name: string;
  readonly capabilities: Capabilities;
  /** A runtime whose backend is this one. Short grace periods keep the suite quick. */
  createRuntime(config: ContractConfig): Promise<Runtime>;
  /** How a fixture is run here; `null` where it cannot be. */
  invoke(fixture: FixtureName, args?: readonly string[]): Invocation | null;
  /** Left out where requests cannot name directories. */
  directory?(): Promise<ContractDirectory>;
  /** Sets a variable of the host, or with `undefined` removes it. Left out where there is no such thing. */
  setHostEnv?(name: string, value: string | undefined): void;
  /** How many processes run that have this in their environment. Left out where that cannot be seen. */
  survivors?(name: string, value: string): Promise<number>;
  /** Ends those processes, where the backend itself warns that it cannot. */
  endMarked?(name: string, value: string): Promise<void>;
  /** Counts of what must not grow: open files, timers, processes, temporary files. */
  atRest?(): Promise<Readonly<Record<string, number>>>;
  /** By how much such a count may grow all the same, however many executions there were. @default 0 */
  readonly restTolerance?: Readonly<Record<string, number>>;
  /** Names that the suite's scripts find by PATH. @default "/usr/bin:/bin" */
  readonly path?: string;
  readonly scale?: Partial<ContractScale>;
  /** Cases that this backend is known not to pass, by id, each with its reason. */
  readonly skip?: Readonly<Record<string, string>>;
}

/** How hard a backend is pressed. */
export interface ContractScale {
  /** Executions at one time. @default 50 */
  readonly parallel: number;
  /** Short timeouts in a row. @default 500 */
  readonly rapid: number;
  /** Added to every upper bound of a duration, in milliseconds. @default 3000 */
  readonly slackMs: number;
}

/** What a case works with. Everything it opens is closed after it, and every process it marks must be gone. */
export interface ContractContext {
  readonly target: ContractTarget;
  readonly scale: ContractScale;
  /** Begins with nothing and is this case's alone. */
  readonly marker: { readonly name: string; readonly value: string };
  runtime(config?: ContractConfig): Promise<Runtime>;
  /** Runs a fixture on a runtime of default configuration, marked. */
  execute(fixture: FixtureName, args?: readonly string[], options?: ExecuteOptions): Promise<ExecutionOutput>;
  /** Runs a fixture on the given runtime, marked. */
  executeOn(
    runtime: Runtime,
    fixture: FixtureName,
    args?: readonly string[],
    options?: ExecuteOptions,
  ): Promise<ExecutionOutput>;
  streamOn(
    runtime: Runtime,
    fixture: FixtureName,
    args?: readonly string[],
    options?: ExecuteOptions,
  ): AsyncIterableIterator<ExecutionEvent>;
  invoke(fixture: FixtureName, args?: readonly string[]): Invocation;
  /** The options with the marker in their environment. */
  marked(options?: ExecuteOptions): ExecuteOptions;
  directory(): Promise<ContractDirectory>;
  /** Marked processes that run now; 0 where they cannot be seen. */
  survivors(): Promise<number>;
  /** Ends marked processes, after a warning that the backend cannot hold them. */
  endMarked(): Promise<void>;
  /** Waits until the answer is true; fails with `what` after `withinMs`. For what has no event to wait for. */
  until(claim: () => boolean | Promise<boolean>, what: string, withinMs?: number): Promise<void>;
}

/** One claim of the contract. */
export interface ContractCase {
  /** Stable; unique in the suite. */
  readonly id: string;
  readonly title: string;
  /** `null`, or why it cannot be asked of this backend. */
  readonly needs?: (target: ContractTarget) => string | null;
  run(context: ContractContext): Promise<void>;
}

/** A reason to skip, by what is missing. */
export type Need = (target: ContractTarget) => string | null;

export const needsStdin: Need = ({ capabilities }) => (capabilities.stdin ? null : "takes no stdin");
export const needsPrograms: Need = ({ capabilities }) =>
  capabilities.runsPrograms ? null : "runs no programs of a host or an image";
export const needsFiles: Need = ({ capabilities }) => (capabilities.files ? null : "takes no files");
export const needsStderr: Need = ({ capabilities }) =>
  capabilities.separateStderr ? null : "has no stderr of its own";
export const needsDirectory: Need = ({ directory }) => (directory ? null : "requests cannot name directories");
export const needsHostEnv: Need = ({ setHostEnv }) => (setHostEnv ? null : "the host's variables cannot be set");
export const needsSurvivors: Need = ({ survivors }) => (survivors ? null : "processes cannot be seen");

/** The first reason of several. */
export function all(...needs: readonly Need[]): Need {
  return (target) => needs.map((need) => need(target)).find((reason) => reason !== null) ?? null;
}

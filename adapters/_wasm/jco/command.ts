/** The command line that runs the host program on a runtime, with as little of the machine as the runtime can be held to. */

import { createRequire } from "node:module";
import { dirname, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { RunDescription } from "./run-description.ts";

export interface JcoCommandOptions {
  readonly runtime: "node" | "bun" | "deno";
  /** Of the runtime. */
  readonly executable: string;
  /** The host program, as {@link hostProgram} finds it. */
  readonly program: string;
  /** Where the description stands, which is not repeated on the command line: it holds the environment. */
  readonly descriptionFile: string;
  readonly description: Pick<RunDescription, "directory" | "preopens" | "network">;
  /** `null`: no limit. */
  readonly memoryLimitBytes: number | null;
}

/**
 * Program and arguments. The working directory must be one that guests cannot write to: Bun takes settings from it.
 */
export function jcoCommand(options: JcoCommandOptions): [string, ...string[]] {
  const { runtime, executable, program, descriptionFile } = options;
  return [executable, ...flags[runtime](options), program, descriptionFile];
}

const flags: Readonly<Record<JcoCommandOptions["runtime"], (options: JcoCommandOptions) => string[]>> = {
  node: nodeFlags,
  // Bun cannot be held to anything.
  bun: () => ["--no-install"],
  deno: denoFlags,
};

/** Directories are reached by descriptors, which have names of their own here; so is a stdin that does not wait. */
const heldDirectories = "/proc/self/fd/";

function nodeFlags(options: JcoCommandOptions): string[] {
  const { descriptionFile, description } = options;
  const isLinux = process.platform === "linux";
  const held = isLinux && description.preopens.length > 0 ? [heldDirectories] : [];
  const stdin = isLinux ? [`${heldDirectories}0`] : [];
  const reads = [...programFiles(options), ...description.preopens.map(({ host }) => below(host)), ...held, ...stdin];
  const writes = description.preopens.filter(({ writable }) => writable).map(({ host }) => below(host));
  return [
    // stderr is the guest's.
    "--no-warnings",
    // At its end Node waits for the engine's threads, and one of them may be waiting for the main thread, for ever: the more
    // likely the fuller the heap is.
    "--single-threaded",
    ...heapFlags(options),
    "--permission",
    ...outermost(reads).map((path) => `--allow-fs-read=${path}`),
    ...outermost([descriptionFile, ...writes, ...(writes.length > 0 ? held : [])]).map(
      (path) => `--allow-fs-write=${path}`,
    ),
    // The network is served by a thread.
    ...(description.network ? ["--allow-worker"] : []),
  ];
}

/** Where a directory is permitted, and one in it besides, Node 24 takes neither for permitted. */
function outermost(paths: readonly string[]): string[] {
  const directories = paths.filter((path) => path.endsWith(sep));
  return [...new Set(paths)].filter((path) => !directories.some((other) => other !== path && path.startsWith(other)));
}

/**
 * Deno follows links out of the directories that it was permitted, and cannot hold one without being permitted everything: with
 * directories, holding them is the better protection.
 */
function denoFlags(options: JcoCommandOptions): string[] {
  const { descriptionFile, description } = options;
  const heap = heapFlags(options).map((flag) => `--v8-flags=${flag}`);
  const common = [...plainDeno, ...heap];
  if (description.preopens.length > 0) return [...common, "--allow-all"];
  return [
    ...common,
    `--allow-read=${programFiles(options).map(listed).join(",")}`,
    `--allow-write=${listed(descriptionFile)}`,
    ...(description.network ? ["--allow-net", "--allow-env", "--allow-sys"] : []),
  ];
}

/** What the host program itself reads. */
function programFiles({ program, descriptionFile, description }: JcoCommandOptions): string[] {
  const shim = description.network ? [below(packagesOf("@bytecodealliance/preview2-shim"))] : [];
  return [below(rootOf(program)), below(description.directory), descriptionFile, ...shim];
}

/** The directory of packages in which one was installed. */
function packagesOf(name: string): string {
  const path = createRequire(import.meta.url).resolve(name);
  return path.slice(0, path.lastIndexOf(`${sep}node_modules${sep}`) + `${sep}node_modules`.length);
}

/** In which everything is that the program imports. */
function rootOf(program: string): string {
  return dirname(dirname(dirname(dirname(program))));
}

const below = (directory: string): string => (directory.endsWith(sep) ? directory : `${directory}${sep}`);

/** A comma would end the path. */
const listed = (path: string): string => path.replaceAll(",", ",,");

/** What is not memory of the guest, but tables and objects that it makes, is in the engine's own heap. */
function heapFlags({ memoryLimitBytes }: JcoCommandOptions): string[] {
  return memoryLimitBytes === null ? [] : [`--max-old-space-size=${128 + Math.ceil(memoryLimitBytes / 2 ** 20)}`];
}

/** Program and arguments that transpile a module; see transpile-program.ts. */
export function transpileCommand(
  { runtime, executable }: Pick<JcoCommandOptions, "runtime" | "executable">,
  kind: "module" | "component",
): [string, ...string[]] {
  const own = { node: ["--no-warnings"], bun: ["--no-install"], deno: [...plainDeno, "--allow-all"] };
  return [executable, ...own[runtime], programBeside("transpile-program"), kind];
}

/** No question is asked, nothing is fetched, and nothing is written beside the program. */
const plainDeno: readonly string[] = ["run", "--quiet", "--no-prompt", "--no-lock", "--no-remote"];

/** The program that runs a guest. */
export function hostProgram(): string {
  return programBeside("host");
}

/** Beside this file as it is, and where the build puts it. */
function programBeside(name: string): string {
  const isSource = import.meta.url.endsWith(".ts");
  const file = isSource ? `./${name}.ts` : `../adapters/_wasm/jco/${name}.js`;
  // As text: the types of two runtimes have URLs that differ.
  return fileURLToPath(new URL(file, import.meta.url).href);
}

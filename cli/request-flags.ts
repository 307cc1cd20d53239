/** The flags that `run` and `explain` share, and the request that they ask for. */

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { reasonOf } from "../host/held-directory.ts";
import { holdNamed, placesOfCommands } from "../host/named-files.ts";
import type { Configuration, CreateRuntimeOptions, SandboxChoice } from "../mod.ts";
import { messageOf, RuntimeError } from "../src/errors.ts";
import type { ExecuteOptions, InputFile, RequestedLimits } from "../src/runtime-types.ts";
import type { NetworkMode } from "../src/types.ts";
import { parseCores, parseSize } from "../src/units.ts";
import { parseDuration } from "./duration.ts";

/** As they were written; what they say is read by {@link readRequest}. */
export interface RequestFlags {
  readonly config?: string;
  readonly tool?: string;
  readonly backend?: string;
  readonly sandbox?: SandboxChoice;
  readonly timeout?: string;
  readonly env?: readonly string[];
  readonly cwd?: string;
  readonly stdin?: string;
  readonly shell?: true;
  readonly maxOutput?: string;
  readonly network?: NetworkMode;
  readonly memory?: string;
  readonly pids?: string;
  readonly cpus?: string;
  readonly cpuTime?: string;
  readonly openFiles?: string;
  readonly file?: readonly string[];
  readonly output?: readonly string[];
  readonly json?: true;
  readonly quiet?: true;
}

/** Whoever types the command is the operator as far as no configuration names a backend: the flag then takes the place of `auto`. */
export function chosenBy({ backend, sandbox }: RequestFlags): Pick<CreateRuntimeOptions, "backend" | "sandbox"> {
  return { ...(backend === undefined ? {} : { backend }), ...(sandbox === undefined ? {} : { sandbox }) };
}

/**
 * A sandbox shows a command its working directory alone, and without one the library makes a private one. Whoever types a
 * command means the directory they are in.
 */
export function inCurrentDirectory(
  options: ExecuteOptions,
  { sandbox }: RequestFlags,
  { security }: Configuration,
): ExecuteOptions {
  const { workingDir, files, outputs } = options;
  const isSandboxed = sandbox !== undefined || security.sandbox.backend !== "none";
  if (!isSandboxed || workingDir !== undefined || files !== undefined || outputs !== undefined) return options;
  return { ...options, workingDir: process.cwd() };
}

/** A path in the working directory, and the file of this machine that it comes from or goes to. */
export interface FilePair {
  readonly path: string;
  readonly hostFile: string;
  /** Whether somebody wrote the second part. */
  readonly named: boolean;
}

/**
 * Where this command works, or another did that was typed in the same directory, and what such commands may write besides:
 * whatever is there may be a link that one of them has made.
 */
export function placesIn({ cwd }: RequestFlags, config?: Configuration): readonly string[] {
  const listed = config?.security.sandbox.writable_paths ?? [];
  const written = listed.map((path) => (/^~(?:[\\/]|$)/.test(path) ? join(homedir(), path.slice(1)) : path));
  return placesOfCommands([process.cwd(), ...(cwd === undefined ? [] : [cwd]), ...written]);
}

/**
 * Everything but stdin and signal.
 *
 * @throws RuntimeError `invalid_request` for a value that cannot be read, `files_failed` for a file that cannot.
 */
export function readRequest(flags: RequestFlags, places: readonly string[] = placesIn(flags)): ExecuteOptions {
  const { tool, backend, cwd, network, shell, timeout, maxOutput, env, file, output } = flags;
  const limits = readLimits(flags);
  return {
    ...(tool === undefined ? {} : { tool }),
    ...(backend === undefined ? {} : { backend }),
    ...(cwd === undefined ? {} : { workingDir: cwd }),
    ...(network === undefined ? {} : { network }),
    ...(shell === undefined ? {} : { shell }),
    ...(timeout === undefined ? {} : { timeoutMs: parseDuration(timeout, "--timeout") }),
    ...(maxOutput === undefined ? {} : { maxOutputBytes: readUnit("--max-output", maxOutput, parseSize) }),
    ...(env === undefined ? {} : { env: readEnv(env) }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(file === undefined ? {} : { files: readFiles(file.map(readPair), places) }),
    ...(output === undefined ? {} : { outputs: output.map((pair) => readPair(pair).path) }),
  };
}

/** `PATH` or `PATH=HOSTFILE`. */
export function readPair(written: string): FilePair {
  const at = written.indexOf("=");
  if (at === -1) return { path: written, hostFile: written, named: false };
  return { path: written.slice(0, at), hostFile: written.slice(at + 1), named: true };
}

function readLimits({ memory, cpus, cpuTime, pids, openFiles }: RequestFlags): RequestedLimits {
  return {
    ...(memory === undefined ? {} : { memoryBytes: readUnit("--memory", memory, parseSize) }),
    ...(cpus === undefined ? {} : { cpus: readUnit("--cpus", cpus, parseCores) }),
    ...(cpuTime === undefined ? {} : { cpuTimeMs: parseDuration(cpuTime, "--cpu-time") }),
    ...(pids === undefined ? {} : { pids: readWhole("--pids", pids) }),
    ...(openFiles === undefined ? {} : { openFiles: readWhole("--open-files", openFiles) }),
  };
}

function readUnit(flag: string, written: string, read: (text: string) => number): number {
  try {
    return read(written);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new RuntimeError("invalid_request", `${flag}: ${reason}`, { cause });
  }
}

function readWhole(flag: string, written: string): number {
  if (/^[1-9]\d{0,14}$/.test(written)) return Number(written);
  return refuse(`${flag} is ${JSON.stringify(written)}: give a whole number, 1 or more`);
}

/** `NAME=VALUE`, or `NAME` for the value that this process has. The last one of a name counts. */
function readEnv(written: readonly string[]): Readonly<Record<string, string>> {
  const env: Record<string, string> = Object.create(null);
  for (const entry of written) {
    const at = entry.indexOf("=");
    const name = at === -1 ? entry : entry.slice(0, at);
    const value = at === -1 ? process.env[name] : entry.slice(at + 1);
    if (value === undefined) refuse(`Variable ${name} is not set here: set it, or give --env ${name}=VALUE`);
    env[name] = value;
  }
  return env;
}

function readFiles(pairs: readonly FilePair[], places: readonly string[]): Readonly<Record<string, InputFile>> {
  const files: Record<string, InputFile> = Object.create(null);
  for (const { path, hostFile } of pairs) {
    try {
      const held = holdNamed(hostFile, places);
      try {
        // Whoever opens a pipe waits for its other end, and a device may have no end.
        if (!held.stats.isFile())
          throw new Error(held.stats.isDirectory() ? "it is a directory" : "it is not a regular file");
        files[path] = { content: readFileSync(held.path), executable: (held.stats.mode & 0o111) !== 0 };
      } finally {
        held.close();
      }
    } catch (cause) {
      const reason = reasonOf(cause);
      throw new RuntimeError("files_failed", `File ${hostFile} cannot be read: ${reason}`, { cause });
    }
  }
  return files;
}

function refuse(message: string): never {
  throw new RuntimeError("invalid_request", message);
}

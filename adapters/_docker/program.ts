/** Which file of a container a command is, found before anything runs, or why there is none that can be run. */

import { posix } from "node:path";
import type { TarEntry } from "../../src/archive/tar-entry.ts";
import { readTar } from "../../src/archive/tar-read.ts";
import { messageOf, RuntimeError } from "../../src/errors.ts";
import { type ContainerUser, closedAbove, mayExecute } from "./access.ts";
import type { ContainerCalls } from "./containers.ts";
import { statusOf } from "./daemon.ts";

/** What a command is looked up with. */
export interface Lookup {
  readonly command: string;
  readonly workingDir: string;
  /** The container's own. */
  readonly path: string;
  readonly user: ContainerUser;
}

/** What the daemon gives a container without a PATH. */
export const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

interface Found {
  readonly path: string;
  /** The links that led to it. */
  readonly links: readonly string[];
  readonly entry: TarEntry;
  /** The first bytes of a file. */
  readonly head: Uint8Array;
}

const headBytes = 256;
const mostLinks = 40;

/**
 * The absolute path of the program.
 *
 * The init of a container hands a text without an interpreter to a shell, and tells of what it cannot start by a number and
 * on stderr, where a command could tell the same: so it is looked up here.
 *
 * @throws RuntimeError `command_not_found` or `not_executable`, naming the command.
 */
export async function findProgram(calls: ContainerCalls, lookup: Lookup): Promise<string> {
  const { command, workingDir, path } = lookup;
  if (command.includes("/")) {
    const found = await look(calls, posix.resolve(workingDir, command));
    if (found === null) throw notFound(command);
    const fault = await faultOf(calls, found, lookup);
    if (fault !== null) throw notExecutable(command, fault);
    return found.path;
  }
  const places = path.split(":").map((directory) => posix.resolve(workingDir, directory || ".", command));
  const found = await Promise.all(places.map((place) => look(calls, place)));
  let firstFault: string | null = null;
  for (const candidate of found) {
    if (candidate === null) continue;
    const fault = await faultOf(calls, candidate, lookup);
    if (fault === null) return candidate.path;
    firstFault ??= fault;
  }
  if (firstFault !== null) throw notExecutable(command, firstFault);
  throw notFound(command);
}

/** What stands at a path, links followed; `null` where nothing does. */
async function look(calls: ContainerCalls, path: string): Promise<Found | null> {
  const links: string[] = [];
  for (let at = path; links.length < mostLinks; ) {
    const found = await readHead(calls, at);
    if (found === null) return null;
    if (found.entry.type !== "symlink") return { ...found, links };
    links.push(at);
    at = posix.resolve(posix.dirname(at), found.entry.link);
  }
  return null;
}

async function readHead(calls: ContainerCalls, path: string): Promise<Omit<Found, "links"> | null> {
  let body: Awaited<ReturnType<ContainerCalls["read"]>>;
  try {
    body = await calls.read(path);
  } catch (error) {
    // The daemon has another number for a path through a file (path_resolution(7), ENOTDIR).
    if (statusOf(error) === 404 || /: not a directory$/.test(messageOf(error))) return null;
    throw error;
  }
  try {
    for await (const { entry, content } of readTar(body)) {
      let head: Uint8Array = new Uint8Array(0);
      for await (const part of content) {
        head = Uint8Array.from([...head, ...part.subarray(0, headBytes - head.length)]);
        if (head.length >= headBytes) break;
      }
      return { path, entry, head };
    }
    return null;
  } finally {
    body.destroy();
  }
}

/** Scripts of scripts, as many as the kernel follows (binfmt_script, BINPRM_MAX_RECURSION). */
const mostInterpreters = 5;

/** Why a file cannot be run by this user, or `null`. */
async function faultOf(
  calls: ContainerCalls,
  { path, links, entry, head }: Found,
  { user, depth = 0 }: Pick<Lookup, "user"> & { readonly depth?: number },
): Promise<string | null> {
  if (entry.type === "directory") return `${path} is a directory`;
  if (entry.type !== "file" && entry.type !== "hardlink") return `${path} is not a regular file`;
  if (!mayExecute(entry, user)) return `${path} has no permission to be executed`;
  const ownerOf = async (directory: string) => (await readHead(calls, directory))?.entry ?? null;
  const closed = await closedAbove(calls, [...links, path], { user, ownerOf });
  if (closed !== null) return `${closed} cannot be searched by user ${user?.uid}`;
  if (entry.type === "hardlink" || isBinary(head)) return null;
  const interpreter = interpreterOf(head);
  if (interpreter === null) return `${path} is neither a program nor a script with an interpreter line`;
  if (!interpreter.startsWith("/") || depth >= mostInterpreters) return missingInterpreter(path, interpreter);
  const there = await look(calls, interpreter);
  if (there === null) return missingInterpreter(path, interpreter);
  const fault = await faultOf(calls, there, { user, depth: depth + 1 });
  return fault === null ? null : `${path} asks for the interpreter ${interpreter}, and ${fault}`;
}

function missingInterpreter(path: string, interpreter: string): string {
  return `${path} asks for the interpreter ${interpreter}, which is not in the container`;
}

/** ELF, or WebAssembly where a machine has a handler for it: whatever else the kernel knows begins with no letter either. */
function isBinary(head: Uint8Array): boolean {
  const magic = [...head.subarray(0, 4)];
  return [
    [0x7f, 0x45, 0x4c, 0x46],
    [0x00, 0x61, 0x73, 0x6d],
  ].some((known) => known.every((byte, index) => magic[index] === byte));
}

function interpreterOf(head: Uint8Array): string | null {
  const text = new TextDecoder("latin1").decode(head);
  return /^#![ \t]*([^ \t\r\n\0]+)/.exec(text)?.[1] ?? null;
}

function notFound(command: string): RuntimeError {
  return new RuntimeError("command_not_found", `Command not found in the container: ${command}`, { backend: "docker" });
}

function notExecutable(command: string, fault: string): RuntimeError {
  return new RuntimeError("not_executable", `Command cannot be executed: ${command}: ${fault}`, { backend: "docker" });
}

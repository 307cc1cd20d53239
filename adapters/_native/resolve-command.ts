/** Finds the file that a command names and says, before anything runs, why it cannot be run. */

import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
} from "node:fs";
import { resolve } from "node:path";
import { RuntimeError } from "../../src/errors.ts";
import { type CommandSearch, commandCandidates, namesPath, searchPath } from "./command-candidates.ts";

/** Programs that were looked into before, by everything that tells a changed file from the old one. */
const known = new Set<string>();
const mostKnown = 256;

/** A file that is looked at. */
export interface SeenFile {
  /** By which it is looked at and opened. */
  readonly path: string;
  readonly stats: Stats;
  close(): void;
}

/**
 * How files are looked at: as this process sees them, or as a command in a sandbox will. Answers `null` for what is not there,
 * and why for what is kept from the command, which then looks further.
 *
 * @param script what names the file as its interpreter
 */
export type Sight = (file: string, script?: string) => SeenFile | RuntimeError | null;

export const ownSight: Sight = (file) => {
  const stats = statOf(file);
  return stats === null ? null : { path: file, stats, close: () => {} };
};

/**
 * The absolute path of a command; see {@link commandCandidates} for where it is searched.
 *
 * @throws RuntimeError `command_not_found` or `not_executable`, naming the command.
 */
export function resolveCommand(command: string, search: CommandSearch, sight: Sight = ownSight): string {
  let refusal: string | null = null;
  let hidden: RuntimeError | null = null;
  let unmet: RuntimeError | null = null;
  for (const file of commandCandidates(command, search)) {
    const wrong = whyNot(file, search.workingDir, sight);
    if (wrong === "ready") return file;
    if (wrong instanceof RuntimeError) unmet ??= wrong;
    else if (wrong !== null && "hidden" in wrong) hidden ??= wrong.hidden;
    else if (wrong !== null) refusal ??= `${file} ${wrong.fault}`;
  }
  if (refusal !== null) {
    throw new RuntimeError("not_executable", `Command cannot be executed: ${refusal}`, { backend: "native" });
  }
  if (unmet !== null) throw unmet;
  const isPath = namesPath(command, search.platform);
  if (hidden !== null && isPath) throw hidden;
  // What is hidden may be none of it: a PATH has many entries, and a name may be misspelt.
  const [entries, hint] = hidden === null ? ["no entry", ""] : ["no entry that is seen", `. ${hidden.message}`];
  const where = isPath ? "" : `: ${entries} of PATH (${searchPath(search)}) has it`;
  throw new RuntimeError("command_not_found", `Command not found: ${command}${where}${hint}`, { backend: "native" });
}

/** `null` for what is not there, or cannot be reached. */
export function statOf(file: string): Stats | null {
  try {
    return statSync(file, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/** What keeps a file from being run, in words that follow its name. */
interface Fault {
  readonly fault: string;
}

/** A file that is kept from the command, if it is there at all. */
interface Hidden {
  readonly hidden: RuntimeError;
}

/** `null`: it is not there. An error: it is there, and its interpreter is kept from the command. */
function whyNot(file: string, workingDir: string, sight: Sight): "ready" | Fault | Hidden | RuntimeError | null {
  const seen = sight(file);
  if (seen === null) return null;
  if (seen instanceof RuntimeError) return { hidden: seen };
  try {
    const head = headOf(file, seen);
    if (typeof head !== "string") return head ?? "ready";
    return scriptFault(head, workingDir, (interpreter) => sight(interpreter, file));
  } finally {
    seen.close();
  }
}

/** How a file begins that may be a script; `null` for one that needs no further look. */
function headOf(file: string, { path, stats }: SeenFile): string | Fault | null {
  if (!stats.isFile()) return { fault: stats.isDirectory() ? "is a directory" : "is not a regular file" };
  if (!mayExecute(path, stats)) return { fault: "has no permission to be executed: chmod +x it" };
  const identity = `${file}\0${stats.dev}\0${stats.ino}\0${stats.mtimeMs}\0${stats.size}`;
  if (known.has(identity)) return null;
  const head = readHead(path);
  // Execute-only: what it is shows when it is run.
  if (head === null || !isBinary(head)) return head;
  if (known.size >= mostKnown) known.clear();
  known.add(identity);
  return null;
}

const isDeno = "Deno" in globalThis;

/** Whether this user may execute a file that is looked at. */
export function mayExecute(file: string, stats: Stats): boolean {
  // Everybody may: there is no need to ask for whom.
  if ((stats.mode & 0o111) === 0o111) return true;
  // Its `accessSync` asks for the link by which a file is held, and not for the file.
  if (isDeno) return (stats.mode & executableBits(stats)) !== 0;
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** By path_resolution(7). */
function executableBits({ uid, gid }: Stats): number {
  const user = process.geteuid?.() ?? 0;
  if (user === 0) return 0o111;
  if (user === uid) return 0o100;
  return gid === process.getegid?.() || process.getgroups?.().includes(gid) === true ? 0o010 : 0o001;
}

/** What keeps the kernel from running a text. Without this, some runtimes would hand it to a shell, line by line. */
function scriptFault(
  head: string,
  workingDir: string,
  sight: (interpreter: string) => ReturnType<Sight>,
): "ready" | Fault | RuntimeError {
  if (!head.startsWith("#!")) return { fault: 'is neither a program nor a script that begins with "#!"' };
  const interpreter = interpreterIn(head);
  if (interpreter === null) return { fault: 'begins with "#!" but names no interpreter' };
  const seen = sight(resolve(workingDir, interpreter));
  if (seen instanceof RuntimeError) return seen;
  seen?.close();
  return seen === null ? { fault: `names an interpreter that is missing: ${JSON.stringify(interpreter)}` } : "ready";
}

/** As a path, of a head as latin1. A carriage return belongs to the name, as it does for the kernel: scripts with the line ends of Windows fail by it. */
export function interpreterIn(head: string): string | null {
  const bytes = /^#![ \t]*([^ \t\n]+)/.exec(head)?.[1];
  return bytes === undefined ? null : Buffer.from(bytes, "latin1").toString("utf8");
}

/** As latin1; `null` for what cannot be read. */
export function readHead(path: string): string | null {
  let fd: number | null = null;
  try {
    // It was a regular file. A pipe that has taken its place since is not waited for.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(fd).isFile()) return null;
    const buffer = Buffer.alloc(256);
    return buffer.toString("latin1", 0, readSync(fd, buffer, 0, buffer.length, 0));
  } catch {
    return null;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** What `e_machine` of an ELF file may say here (elf.h); another architecture's program would be read by a shell as text. */
const elfMachines: Readonly<Record<string, readonly number[]>> = { x64: [62, 3], arm64: [183, 40] };

/** A header that the kernel would take, as far as it can be told; on other architectures than these any machine passes. */
function isElf(head: string): boolean {
  if (!head.startsWith("\x7fELF") || head.length < 52) return false;
  const [bits, order, version] = [head.charCodeAt(4), head.charCodeAt(5), head.charCodeAt(6)];
  if ((bits !== 1 && bits !== 2) || (order !== 1 && order !== 2) || version !== 1) return false;
  const number = (at: number) => {
    const [low, high] = order === 1 ? [at, at + 1] : [at + 1, at];
    return head.charCodeAt(low) + head.charCodeAt(high) * 256;
  };
  const machines = elfMachines[process.arch];
  return [2, 3].includes(number(16)) && (machines === undefined || machines.includes(number(18)) || hasBinfmt());
}

/** Whether somebody has taught the kernel other formats (binfmt_misc): then it is the one to say. */
function hasBinfmt(): boolean {
  try {
    return readdirSync("/proc/sys/fs/binfmt_misc").some((name) => name !== "register" && name !== "status");
  } catch {
    return false;
  }
}

/** ELF; Mach-O in either byte order and width, and universal binaries; on Windows the extension decides. */
function isBinary(head: string): boolean {
  if (process.platform === "win32" || isElf(head)) return true;
  return /^(?:\xfe\xed\xfa[\xce\xcf]|[\xce\xcf]\xfa\xed\xfe|\xca\xfe\xba\xbe)/.test(head);
}

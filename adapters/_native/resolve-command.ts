/** Finds the file that a command names and says, before anything runs, why it cannot be run. */

import { accessSync, closeSync, constants, openSync, readdirSync, readSync, type Stats, statSync } from "node:fs";
import { resolve } from "node:path";
import { RuntimeError } from "../../src/errors.ts";
import { type CommandSearch, commandCandidates, namesPath, searchPath } from "./command-candidates.ts";

/** Programs that were looked into before, by everything that tells a changed file from the old one. */
const known = new Set<string>();
const mostKnown = 256;

/**
 * The absolute path of a command; see {@link commandCandidates} for where it is searched.
 *
 * @param hides why a path is not seen by the command, which then looks further; `null`: it is
 * @throws RuntimeError `command_not_found` or `not_executable`, naming the command.
 */
export function resolveCommand(
  command: string,
  search: CommandSearch,
  hides: (file: string) => RuntimeError | null = () => null,
): string {
  let refusal: string | null = null;
  let hidden: RuntimeError | null = null;
  for (const file of commandCandidates(command, search)) {
    // Asked first: of what is hidden nothing is told, not even whether it is there.
    const hiding = hides(file);
    hidden ??= hiding;
    const stats = hiding === null ? statOf(file) : null;
    if (stats === null) continue;
    const wrong = whyNot(file, stats, search.workingDir);
    if (wrong === null) return file;
    refusal ??= `${file} ${wrong}`;
  }
  if (refusal !== null) {
    throw new RuntimeError("not_executable", `Command cannot be executed: ${refusal}`, { backend: "native" });
  }
  if (hidden !== null) throw hidden;
  const where = namesPath(command, search.platform) ? "" : `: no entry of PATH (${searchPath(search)}) has it`;
  throw new RuntimeError("command_not_found", `Command not found: ${command}${where}`, { backend: "native" });
}

/** `null` for what is not there, or cannot be reached. */
export function statOf(file: string): Stats | null {
  try {
    return statSync(file, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function whyNot(file: string, stats: Stats, workingDir: string): string | null {
  if (!stats.isFile()) return stats.isDirectory() ? "is a directory" : "is not a regular file";
  if (!mayExecute(file, stats)) return "has no permission to be executed: chmod +x it";
  const identity = `${file}\0${stats.dev}\0${stats.ino}\0${stats.mtimeMs}\0${stats.size}`;
  if (known.has(identity)) return null;
  const head = readHead(file);
  // Execute-only: what it is shows when it is run.
  if (head === null) return null;
  if (!isBinary(head)) return scriptFault(head, workingDir);
  if (known.size >= mostKnown) known.clear();
  known.add(identity);
  return null;
}

function mayExecute(file: string, { mode }: Stats): boolean {
  // Everybody may: there is no need to ask for whom.
  if ((mode & 0o111) === 0o111) return true;
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What keeps the kernel from running a text. Without this, some runtimes would hand it to a shell, line by line. */
function scriptFault(head: string, workingDir: string): string | null {
  if (!head.startsWith("#!")) return 'is neither a program nor a script that begins with "#!"';
  const interpreter = interpreterIn(head);
  if (interpreter === undefined) return 'begins with "#!" but names no interpreter';
  const isThere = statOf(resolve(workingDir, interpreter)) !== null;
  return isThere ? null : `names an interpreter that is missing: ${JSON.stringify(interpreter)}`;
}

/** A carriage return belongs to the name, as it does for the kernel: scripts with the line ends of Windows fail by it. */
function interpreterIn(head: string): string | undefined {
  return /^#![ \t]*([^ \t\n]+)/.exec(head)?.[1];
}

/** The interpreter that a script names; `null` for what is none. */
export function interpreterOf(file: string): string | null {
  return interpreterIn(readHead(file) ?? "") ?? null;
}

function readHead(file: string): string | null {
  let fd: number | null = null;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
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

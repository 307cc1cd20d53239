/** The door: small named checks of what a caller asks. What passes here is well-formed; whether it is allowed is the plan's concern. */

import { RuntimeError } from "./errors.ts";
import type { ExecuteOptions, InputFile, StdinSource } from "./runtime-types.ts";
import { isDetached } from "./streams.ts";
import { type PlannedFile, resourceLimitNames } from "./types.ts";

/** A request that passed the door. */
export interface CheckedRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: ExecuteOptions;
  readonly stdin: "none" | "inline" | "stream";
  readonly stdinBytes: Uint8Array | null;
  readonly files: readonly PlannedFile[];
  readonly fileBytes: ReadonlyMap<string, Uint8Array>;
}

/**
 * The longest single argument, its closing NUL included: Linux's MAX_ARG_STRLEN, 32 pages of 4 KiB (execve(2)). It holds
 * on every backend, so that a request does not depend on where it runs.
 */
const maxArgumentBytes = 131_072;

const optionNames = new Set([
  ...["env", "workingDir", "timeoutMs", "stdin", "signal", "tool", "backend", "files", "outputs"],
  ...["maxOutputBytes", "network", "limits", "shell"],
]);

/** @throws RuntimeError `invalid_request` or `argument_list_too_long`, before anything runs. */
export function checkRequest(command: unknown, given: unknown, givenOptions: unknown): CheckedRequest {
  if (typeof command !== "string" || command === "") refuse("Command is not a non-empty string: name a program");
  checkText("Command", command);
  const { args, options } = takeCopy(given, givenOptions);
  for (const [index, arg] of args.entries()) {
    if (typeof arg !== "string") refuse(`Argument ${index} is of type ${typeof arg}: give a string`);
    checkText(`Argument ${index}`, arg);
  }
  checkOptions(options);
  const files = checkFiles(options.files ?? {});
  return { command, args, options, ...checkStdin(options.stdin), ...files };
}

/**
 * The caller's objects are looked at once: what is checked is what is used, whatever their getters answer later, and what
 * the caller does with them from now on changes nothing.
 */
function takeCopy(args: unknown, options: unknown): { args: string[]; options: ExecuteOptions } {
  try {
    if (!Array.isArray(args)) refuse("Arguments are not an array: give one string for each");
    checkTable("Options are", options);
    const copy: Record<string, unknown> = { ...options };
    for (const name of ["env", "files", "limits"]) {
      const table = copy[name];
      if (table === undefined) continue;
      checkTable(`Option ${name} is`, table);
      copy[name] = { ...table };
    }
    if (Array.isArray(copy["outputs"])) copy["outputs"] = [...copy["outputs"]];
    return { args: [...args], options: copy as ExecuteOptions };
  } catch (cause) {
    if (cause instanceof RuntimeError) throw cause;
    throw new RuntimeError("invalid_request", "The request could not be read: one of its objects threw", { cause });
  }
}

function checkText(what: string, text: string): void {
  if (text.includes("\0")) refuse(`${what} has a NUL byte in it: it would be cut there`);
  if (!text.isWellFormed()) refuse(`${what} has half a surrogate pair in it: it has no UTF-8 form`);
  // A UTF-16 unit is at most three bytes of UTF-8, so most texts need no encoding to be known as short.
  if (text.length * 3 < maxArgumentBytes) return;
  const bytes = new TextEncoder().encode(text).byteLength;
  if (bytes < maxArgumentBytes) return;
  throw new RuntimeError(
    "argument_list_too_long",
    `${what} has ${bytes} bytes: the most is ${maxArgumentBytes - 1}, pass it by stdin or as a file`,
  );
}

function checkOptions(options: ExecuteOptions): void {
  for (const name of Object.keys(options)) {
    if (!optionNames.has(name)) refuse(`Option ${JSON.stringify(name)} is not known: see ExecuteOptions`);
  }
  checkNumber("timeoutMs", options.timeoutMs, 0);
  checkNumber("maxOutputBytes", options.maxOutputBytes, 0);
  checkWhole("maxOutputBytes", options.maxOutputBytes);
  for (const [name, value] of Object.entries(options.limits ?? {})) {
    if (!Object.hasOwn(resourceLimitNames, name))
      refuse(`Limit ${JSON.stringify(name)} is not known: see RequestedLimits`);
    checkNumber(`limits.${name}`, value, Number.MIN_VALUE);
    if (name !== "cpus") checkWhole(`limits.${name}`, value);
  }
  if (options.network !== undefined && !["none", "cluster", "all"].includes(options.network)) {
    refuse(`Option network is ${shown(options.network)}: give "none", "cluster" or "all"`);
  }
  for (const name of ["workingDir", "tool", "backend"] as const) {
    const value = options[name];
    if (value === undefined) continue;
    if (typeof value !== "string" || value === "") refuse(`Option ${name} is not a non-empty string`);
    checkText(`Option ${name}`, value);
  }
  if (options.shell !== undefined && typeof options.shell !== "boolean") refuse("Option shell is not a boolean");
  if (options.signal !== undefined && !(options.signal instanceof AbortSignal))
    refuse("Option signal is not an AbortSignal");
  if (options.outputs !== undefined && !Array.isArray(options.outputs))
    refuse("Option outputs is not an array of paths");
  for (const path of options.outputs ?? []) checkRelativePath("outputs", path);
}

/** A plain object: of a `Map`, or of what a prototype holds, nothing would be seen. */
function checkTable(what: string, value: unknown): asserts value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    refuse(`${what} not an object: give one of names and values`);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    refuse(`${what} not a plain object: give one of names and values`);
}

function checkWhole(name: string, value: unknown): void {
  if (value !== undefined && !Number.isInteger(value)) refuse(`Option ${name} is ${shown(value)}: give a whole number`);
}

function checkNumber(name: string, value: unknown, least: number): void {
  if (value === undefined) return;
  if (typeof value !== "number" || !Number.isFinite(value) || value < least || value > Number.MAX_SAFE_INTEGER) {
    refuse(`Option ${name} is ${shown(value)}: give a finite number, ${least === 0 ? "0 or more" : "more than 0"}`);
  }
}

/** Whatever it is: not everything has a JSON form, or can be made a string. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function checkStdin(source: StdinSource | undefined): Pick<CheckedRequest, "stdin" | "stdinBytes"> {
  if (source === undefined) return { stdin: "none", stdinBytes: null };
  if (typeof source === "string") return { stdin: "inline", stdinBytes: new TextEncoder().encode(source) };
  if (source instanceof Uint8Array) return { stdin: "inline", stdinBytes: copyBytes("Option stdin", source) };
  if (source instanceof ReadableStream) {
    if (source.locked) refuse("Option stdin is a stream that is already being read: give one that is not locked");
    return { stdin: "stream", stdinBytes: null };
  }
  return refuse("Option stdin is neither a string, a Uint8Array nor a ReadableStream");
}

function checkFiles(files: Readonly<Record<string, InputFile>>): Pick<CheckedRequest, "files" | "fileBytes"> {
  const planned: PlannedFile[] = [];
  const fileBytes = new Map<string, Uint8Array>();
  for (const [path, file] of Object.entries(files)) {
    checkRelativePath("files", path);
    const { content, executable = false } = checkFile(JSON.stringify(path), file);
    const bytes =
      typeof content === "string"
        ? new TextEncoder().encode(content)
        : copyBytes(`File ${JSON.stringify(path)}`, content);
    fileBytes.set(path, bytes);
    planned.push({ path, bytes: bytes.byteLength, executable });
  }
  return { files: planned, fileBytes };
}

function copyBytes(what: string, bytes: Uint8Array): Uint8Array {
  if (isDetached(bytes))
    refuse(`${what} has bytes whose memory was handed to somebody else: give them before they are transferred`);
  return new Uint8Array(bytes);
}

function checkFile(path: string, file: InputFile): Exclude<InputFile, string | Uint8Array> {
  const whole = typeof file === "string" || file instanceof Uint8Array ? { content: file } : { ...file };
  if (typeof whole?.content !== "string" && !(whole?.content instanceof Uint8Array)) {
    refuse(`File ${path} has no content: give a string or a Uint8Array`);
  }
  for (const name of Object.keys(whole)) {
    if (name !== "content" && name !== "executable")
      refuse(`File ${path} has a key ${JSON.stringify(name)}: see InputFile`);
  }
  if (whole.executable !== undefined && typeof whole.executable !== "boolean")
    refuse(`File ${path} is executable ${shown(whole.executable)}: give a boolean`);
  return whole;
}

/** Purely lexical: what links do is the adapter's to check, at the moment of use. */
function checkRelativePath(option: string, path: unknown): void {
  if (typeof path !== "string" || path === "") refuse(`Option ${option} has a path that is not a non-empty string`);
  const shown = JSON.stringify(path);
  checkText(`Path ${shown} in option ${option}`, path);
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path) || path.includes("\\")) {
    refuse(`Path ${shown} in option ${option} is not relative to the working directory, with "/" between its parts`);
  }
  if (path.split("/").some((part) => part === "" || part === "." || part === "..")) {
    refuse(`Path ${shown} in option ${option} has an empty, "." or ".." part: name the file directly`);
  }
}

function refuse(message: string): never {
  throw new RuntimeError("invalid_request", message);
}

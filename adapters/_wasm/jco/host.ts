/**
 * The program that runs one guest, as `node host.ts RUN.json`: a process of its own, so that it can be killed in the middle of
 * a loop. The guest is given what the description says, and the process's own stdin, stdout and stderr.
 */

import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../../src/errors.ts";
import { capMemories, hasMemory } from "./cap-memory.ts";
import { hostFailureExitCode, hostFailurePrefix, memoryPrefix, trapExitCode, trapPrefix } from "./ending.ts";
import { entryFile, type Manifest, manifestFile } from "./manifest.ts";
import { memoryEvidence } from "./memory-evidence.ts";
import { preview1Functions } from "./preview1.ts";
import { type RunDescription, takeDescription } from "./run-description.ts";
import { createImports } from "./wasi/imports.ts";

type CoreImports = Record<string, Record<string, WebAssembly.ImportValue>>;

/** What jco generates. */
interface Glue {
  instantiate(
    getCoreModule: (name: string) => Promise<WebAssembly.Module>,
    imports: Record<string, object>,
    instantiateCore: (module: WebAssembly.Module, imports?: CoreImports) => WebAssembly.Instance,
  ): Promise<{ readonly run: { run(): void } }>;
}

interface Guest {
  run(): void;
  /** How much memory it has. */
  bytes(): number;
  /** The last that it wrote to stderr. */
  said(): string;
  readonly limitBytes: number;
}

/** Nothing is on its way when this is called: all that the guest wrote was written in place. */
function leave(code: number): never {
  process.exit(code);
}

function tell(line: string): void {
  try {
    writeSync(2, `${line}\n`);
  } catch {
    // Nobody listens any more.
  }
}

/** What of stderr is remembered. */
const tailBytes = 4096;

async function load(run: RunDescription): Promise<Guest> {
  const manifest: Manifest = JSON.parse(readFileSync(join(run.directory, manifestFile), "utf8"));
  const glue: Glue = await import(pathToFileURL(join(run.directory, entryFile)).href);
  const memories = new Set<WebAssembly.Memory>();
  let tail: Uint8Array = new Uint8Array();
  const imports = await createImports(manifest.imports, {
    run,
    exit: leave,
    sees: (bytes) => {
      tail = Buffer.concat([tail, bytes.subarray(-tailBytes)]).subarray(-tailBytes);
    },
  });
  const modules = coreModules(run, manifest);
  /** Those with a memory, and whether they can still be instantiated. */
  const fresh = new Map<WebAssembly.Module, boolean>();
  const guest = await glue.instantiate(
    async (name) => {
      const bytes = modules.get(name) ?? new Uint8Array();
      const module = new WebAssembly.Module(bytes);
      if (hasMemory(bytes)) fresh.set(module, true);
      return module;
    },
    imports,
    (module, coreImports) => {
      // The limit is shared out among the memories of the modules, and each instance has one of its own.
      if (fresh.get(module) === false) throw new Error("It makes a module that has a memory more than once");
      if (fresh.has(module)) fresh.set(module, false);
      const wanted = manifest.kind === "module" ? withPreview1(coreImports, run, () => instance) : coreImports;
      const instance: WebAssembly.Instance = new WebAssembly.Instance(module, wanted);
      for (const value of Object.values(instance.exports)) if (value instanceof WebAssembly.Memory) memories.add(value);
      return instance;
    },
  );
  return {
    run: () => guest.run.run(),
    bytes: () => [...memories].reduce((sum, { buffer }) => sum + buffer.byteLength, 0),
    said: () => new TextDecoder().decode(tail),
    limitBytes: run.memoryLimitBytes ?? Number.POSITIVE_INFINITY,
  };
}

/** Of a module's memory: what the adapter between the previews grows it by, before the module begins. */
const adapterBytes = 2 * 65_536;

/** Each of them with its memories held to the limit, by their files' names. */
function coreModules({ directory, memoryLimitBytes }: RunDescription, { kind, modules }: Manifest) {
  const read = modules.map((name) => new Uint8Array(readFileSync(join(directory, name))));
  const lodgerBytes = kind === "module" ? adapterBytes : 0;
  const capped = memoryLimitBytes === null ? read : capMemories(read, { limitBytes: memoryLimitBytes, lodgerBytes });
  return new Map(modules.map((name, index) => [name, new Uint8Array(capped[index] ?? [])]));
}

/** The module itself is the one that imports preview 1. */
function withPreview1(
  imports: CoreImports | undefined,
  { args, env }: RunDescription,
  instance: () => WebAssembly.Instance,
): CoreImports | undefined {
  const adapted = imports?.["wasi_snapshot_preview1"];
  if (adapted === undefined) return imports;
  const memory = () => instance().exports["memory"] as WebAssembly.Memory;
  const exact = preview1Functions({ args, env, exit: leave, memory });
  return { ...imports, wasi_snapshot_preview1: { ...adapted, ...exact } };
}

function start(guest: Guest): never {
  try {
    guest.run();
  } catch (error) {
    // A result, and no trap.
    if (error instanceof Error && "payload" in error) leave(1);
    tellTrap(error);
    const evidence = memoryEvidence({ bytes: guest.bytes(), limitBytes: guest.limitBytes, said: guest.said() });
    if (evidence !== null) tell(`${memoryPrefix}${evidence}`);
    leave(trapExitCode);
  }
  leave(0);
}

function tellTrap(error: unknown): void {
  tell(`${trapPrefix}${messageOf(error).replace(/^wasm trap: /, "")}`);
}

/** The generated code looks at a variable at every step, which is slow, and not permitted everywhere. */
function hideEnvironment(): void {
  Object.defineProperty(process, "env", { value: {}, configurable: true });
}

let guest: Guest;
try {
  const [file = ""] = process.argv.slice(2);
  const run = takeDescription(file);
  hideEnvironment();
  guest = await load(run);
} catch (error) {
  // Code of the guest's runs as its modules are put together.
  if (error instanceof WebAssembly.RuntimeError) {
    tellTrap(error);
    leave(trapExitCode);
  }
  tell(`${hostFailurePrefix}${messageOf(error)}`);
  leave(hostFailureExitCode);
}
start(guest);

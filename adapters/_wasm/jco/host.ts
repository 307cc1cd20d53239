/**
 * The program that runs one guest, as `node host.ts RUN.json`: a process of its own, so that it can be killed in the middle of
 * a loop. The guest is given what the description says, and the process's own stdin, stdout and stderr.
 */

import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../../src/errors.ts";
import { hostFailureExitCode, hostFailurePrefix, memoryPrefix, trapExitCode, trapPrefix } from "./ending.ts";
import { entryFile, type Manifest, manifestFile } from "./manifest.ts";
import { memoryEvidence } from "./memory-evidence.ts";
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
  const guest = await glue.instantiate(
    (name) => WebAssembly.compile(readFileSync(join(run.directory, name))),
    imports,
    (module, coreImports) => {
      const wanted = manifest.kind === "module" ? withExactExit(coreImports) : coreImports;
      const instance = new WebAssembly.Instance(module, wanted);
      for (const value of Object.values(instance.exports)) if (value instanceof WebAssembly.Memory) memories.add(value);
      return instance;
    },
  );
  return {
    run: () => guest.run.run(),
    bytes: () => [...memories].reduce((sum, { buffer }) => sum + buffer.byteLength, 0),
    said: () => new TextDecoder().decode(tail),
    limitBytes: manifest.memoryLimitBytes,
  };
}

/** The adapter between the previews knows success and failure only: a module's own number is taken before it gets there. */
function withExactExit(imports: CoreImports | undefined): CoreImports | undefined {
  const preview1 = imports?.["wasi_snapshot_preview1"];
  if (preview1 === undefined) return imports;
  return { ...imports, wasi_snapshot_preview1: { ...preview1, proc_exit: (code: number) => leave(code & 0xff) } };
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

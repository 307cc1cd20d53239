/** Engines that answered, and what they need of this machine: the place where guests run. */

import { readFileSync } from "node:fs";
import { findOwnProgram } from "../../host/own-program.ts";
import type { BackendFactory } from "../../src/backend.ts";
import { amendConfig } from "../../src/config.ts";
import { messageOf } from "../../src/errors.ts";
import { grantedDirectories } from "../../src/grants.ts";
import type { Availability, RuntimeAdapter } from "../../src/types.ts";
import { secondsToMs } from "../../src/units.ts";
import { type ArtifactStore, openArtifactStore } from "./artifacts.ts";
import { compileModule } from "./compile.ts";
import type { Engine } from "./engine.ts";
import { type EngineHost, runEngine } from "./engine-process.ts";
import { processPlan, startWasm, type WasmParts } from "./execution.ts";
import { exitModule } from "./exit-note.ts";
import type { FoundProgram, FoundPrograms } from "./find-programs.ts";
import { type GuardParts, prepareGuards } from "./guards.ts";
import { jcoEngine } from "./jco-engine.ts";
import { lowerWasm, type WasmFacts } from "./lower.ts";
import { createModuleCache } from "./modules.ts";
import { thisRuntime } from "./this-runtime.ts";
import { compileCommand, wasmtimeEngine } from "./wasmtime.ts";

export interface WasmPlace extends Pick<RuntimeAdapter, "lower" | "start"> {
  readonly availability: Availability;
  readonly sweep: NonNullable<RuntimeAdapter["sweep"]>;
  close(): Promise<void>;
}

export interface WasmPlaceParts extends GuardParts {
  readonly programs: FoundPrograms;
  readonly processes: BackendFactory;
  readonly modulePath: string;
}

/** Never throws for an engine that does not work: that is told by the availability. */
export async function prepareWasm(parts: WasmPlaceParts): Promise<WasmPlace> {
  // What is configured for local processes is around those, and not around engines.
  const config = amendConfig(parts.config, ["security", "sandbox"], {});
  const { adapter: processes } = await parts.processes({ ...parts, config });
  try {
    return await placeOn(processes, parts);
  } catch (error) {
    await processes.close?.();
    throw error;
  }
}

async function placeOn(processes: RuntimeAdapter, parts: WasmPlaceParts): Promise<WasmPlace> {
  const { host, programs, modulePath, settings } = parts;
  const store = openArtifactStore();
  const asked = await Promise.all(
    programs.found.map((found) => askEngine(found, { processes, owner: host.owner }, store)),
  );
  const engines = asked.flatMap(({ engine }) => (engine === null ? [] : [engine]));
  const unguarded = engines.filter(({ keepsReadOnly }) => !keepsReadOnly);
  const guards = await prepareGuards(unguarded.length === 0 ? null : parts, [
    ...unguarded.map(({ program }) => program),
    store.directory,
  ]);
  const own = findOwnProgram();
  const facts: WasmFacts = {
    engines,
    processVerdicts: (plan) => processes.lower(processPlan(plan, { argv: ["engine"], env: {} }, null)).verdicts,
    whyUnguarded: (plan) => guards.of(plan).why,
  };
  const shared: WasmParts = {
    granted: grantedDirectories(settings.capabilities),
    program: { ...own, places: [...own.places, store.directory, ...unguarded.map(({ program }) => program)] },
    compileMs: secondsToMs(settings.timeout_secs) || mostCompileMs,
    // Without a guard this is reached only where the operator accepts a weaker file system.
    ...{ facts, processes, store, guarded: (plan) => guards.of(plan).adapter ?? processes },
    modules: createModuleCache({ modulePath, workingDir: host.workingDir }),
  };
  return {
    availability: availabilityOf(asked),
    lower: (plan) => lowerWasm(plan, facts),
    start: (plan, io, signal) => startWasm({ ...shared, plan, io, signal }),
    sweep: async (isAlive) => (await processes.sweep?.(isAlive)) ?? { found: 0, removed: 0, failed: [] },
    async close() {
      await Promise.all([processes, ...guards.adapters].map((adapter) => adapter.close?.()));
      store.close();
    },
  };
}

interface Asked {
  readonly engine: Engine | null;
  readonly said: string;
}

/** Where guests have no limit of time. */
const mostCompileMs = 120_000;
const mostVersionMs = 10_000;

async function askEngine(found: FoundProgram, host: EngineHost, store: ArtifactStore): Promise<Asked> {
  const { engine: name, program } = found;
  try {
    const engine = name === "jco" ? openJco(program) : await openWasmtime(program, host, store);
    return { engine, said: `${name} ${engine.version}` };
  } catch (error) {
    return { engine: null, said: `${program} does not work: ${messageOf(error)}` };
  }
}

/** @param manifest of jco's package */
function openJco(manifest: string): Engine {
  const runtime = thisRuntime();
  if (runtime === null) throw new Error("this runtime cannot start another of its kind");
  const { version } = JSON.parse(readFileSync(manifest, "utf8"));
  return jcoEngine({ runtime: runtime.name, executable: runtime.executable, version: String(version) });
}

async function openWasmtime(program: string, host: EngineHost, store: ArtifactStore): Promise<Engine> {
  const command = { argv: [program, "--version"], env: {} } as const;
  const { stdout, stderr, timedOut } = await runEngine(host, { command, directory: null, timeoutMs: mostVersionMs });
  const version = /\d+\.\d+\.\d+\S*/.exec(stdout)?.[0];
  if (version === undefined)
    throw new Error(timedOut ? "it does not answer" : `it says ${JSON.stringify(stdout || stderr)}`);
  const exitArtifact = await store.get(`wasmtime-${version}-exit`, (directory) =>
    compileModule(host, {
      ...{
        engine: "wasmtime",
        command: compileCommand(program),
        name: "for exit codes",
        bytes: exitModule(),
        directory,
      },
      timeoutMs: mostVersionMs,
    }),
  );
  return wasmtimeEngine(program, version, exitArtifact);
}

function availabilityOf(asked: readonly Asked[]): Availability {
  const said = asked.map((one) => one.said).join("; ");
  if (asked.some(({ engine }) => engine !== null)) return { available: true, details: said };
  return { available: false, reason: said, remedy: "Mend that, or choose another engine" };
}

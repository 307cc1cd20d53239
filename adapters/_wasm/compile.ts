/** A module compiled by an engine, within limits of its own: a module can be made to take for ever. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { RuntimeError } from "../../src/errors.ts";
import type { EngineCommand, EngineName } from "./engine.ts";
import { type EngineHost, engineMemoryBytes, runEngine } from "./engine-process.ts";

/** What is compiled, and by whom. */
export interface Compilation {
  readonly engine: EngineName;
  readonly command: EngineCommand;
  /** Names the module in errors. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Where files of the work may be; somebody else removes them. */
  readonly directory: string;
  readonly timeoutMs: number;
}

/**
 * Answers the path of what was made.
 *
 * @throws RuntimeError `not_executable` for a module that the engine does not take, `start_timeout` for one that takes too long.
 */
export async function compileModule(host: EngineHost, work: Compilation): Promise<string> {
  const { directory, bytes, timeoutMs, name, engine, command } = work;
  writeFileSync(join(directory, "module.wasm"), bytes, { mode: 0o600 });
  const { exit, timedOut, stderr } = await runEngine(host, { command, directory, timeoutMs });
  if (exit.kind === "exited" && exit.code === 0) return join(directory, "module.bin");
  if (timedOut) {
    const message = `Module ${name} takes more than ${timeoutMs} ms to compile: give it a longer time limit, or make it smaller`;
    throw new RuntimeError("start_timeout", message, { backend: "wasm" });
  }
  const why =
    exit.kind === "out_of_memory"
      ? `compiling it takes more than ${engineMemoryBytes} bytes of memory`
      : `the engine says: ${inShort(stderr)}`;
  throw new RuntimeError("not_executable", `Module ${name} cannot be compiled by ${engine}: ${why}`, {
    backend: "wasm",
  });
}

/** Without the engine's own way to where it noticed. */
function inShort(said: string): string {
  return (said.split("Stack backtrace:")[0] ?? "").replace(/\s+/g, " ").trim();
}

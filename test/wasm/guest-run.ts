/** A guest under plain `wasmtime run`, and what came of it. */

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guest, wasmtimeProgram } from "../rig/wasm/place.ts";

export interface Ending {
  /** `null` where it was ended by a signal, ours above all. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface RunSettings {
  readonly args?: readonly string[];
  readonly input?: string;
  /** It is ended once this holds of its stdout. */
  readonly until?: (stdout: Buffer) => boolean;
}

export interface GuestSettings extends RunSettings {
  /** Options of `wasmtime run`. */
  readonly options?: readonly string[];
  /** A host directory that is all that the guest has. */
  readonly directory?: string;
}

/** A guest by its name, or by the path that {@link CompiledGuests} compiled it to. */
export function runGuest(module: string, settings: GuestSettings = {}): Promise<Ending> {
  const { args = [], options = [], directory, ...rest } = settings;
  const granted = directory === undefined ? [] : ["--dir", `${directory}::/`];
  const code = module.startsWith("/") ? ["--allow-precompiled", module] : [guest(module)];
  // A test leaves nothing behind, what was compiled among it.
  const words = ["run", "-C", "cache=n", ...granted, ...options, ...code, ...args];
  return run(wasmtimeProgram() ?? "wasmtime", { ...rest, args: words });
}

export function run(program: string, settings: RunSettings & { readonly cwd?: string }): Promise<Ending> {
  const { args = [], input = "", until, cwd } = settings;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "pipe", ...(cwd === undefined ? {} : { cwd }) });
    const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    child.stdout.on("data", (chunk: Buffer) => chunks.stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.stderr.push(chunk));
    // Many a guest ends without having read its stdin.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const isShown = () => until?.(Buffer.concat(chunks.stdout)) === true;
    const watch = setInterval(() => isShown() && child.kill("SIGKILL"), 20);
    child.on("error", reject);
    child.on("close", (code) => {
      clearInterval(watch);
      resolve({ code, stdout: Buffer.concat(chunks.stdout), stderr: Buffer.concat(chunks.stderr) });
    });
  });
}

/** Guests compiled once for many runs. */
export class CompiledGuests {
  readonly #directory = mkdtempSync(join(tmpdir(), "prx-guests-"));

  /** Answers the path of what was compiled. */
  compile(name: string): string {
    const path = join(this.#directory, `${name.replaceAll("/", "-")}.cwasm`);
    execFileSync(wasmtimeProgram() ?? "wasmtime", ["compile", "-C", "cache=n", "-o", path, guest(name)]);
    return path;
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

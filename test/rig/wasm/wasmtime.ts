/** The real wasmtime and its assembler, as the Python registry carries them: pinned by version and by digest, which pip checks. */

import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { once, tool } from "./make.ts";
import { digest, rigHome } from "./place.ts";

const remedy = "It takes python3 with pip: apt-get install python3-pip";
const requirements = fileURLToPath(new URL("requirements.txt", import.meta.url));
const script = "import sys, wasmtime; sys.stdout.buffer.write(wasmtime.wat2wasm(sys.stdin.read()))";

/** One for each machine that shares the directory. */
export const wasmtimeVersion = digest(readFileSync(requirements), process.platform, process.arch);

function packages(): string {
  return once(join(rigHome, `wasmtime-${wasmtimeVersion}`), (at) => {
    tool(remedy, ["python3", "-m", "pip", "--version"]);
    const flags = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--no-compile", "--target", at];
    tool("The package registry must be in reach", ["python3", "-m", "pip", "install", ...flags, "-r", requirements]);
    chmodSync(join(at, "wasmtime_cli", "wasmtime"), 0o755);
  });
}

/** The program's path. */
export function installWasmtime(): string {
  return join(packages(), "wasmtime_cli", "wasmtime");
}

/** A module's text as its bytes. */
export function assemble(text: string): Uint8Array {
  const env = { PYTHONPATH: packages(), PYTHONDONTWRITEBYTECODE: "1", PYTHONIOENCODING: "utf-8" };
  return tool(remedy, ["python3", "-c", script], { env, input: text });
}

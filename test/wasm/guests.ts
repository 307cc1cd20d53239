/** Guests for tests, compiled from Rust once and kept between runs. */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { missing } from "../fixtures/needed.ts";

const source = fileURLToPath(new URL("guests/probe.rs", import.meta.url));
const targets = { module: "wasm32-wasip1", component: "wasm32-wasip2" } as const;

export type Kind = keyof typeof targets;

function rustc(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("rustc", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`rustc ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}

/** Why the guest cannot be compiled here; `null` if it can. */
export function cannotCompile(kind: Kind): string | null {
  const lost = missing("rustc");
  if (lost !== null) return lost;
  return existsSync(rustc("--print", "target-libdir", "--target", targets[kind]))
    ? null
    : `rustc has no ${targets[kind]} here`;
}

export function probeGuest(kind: Kind): Uint8Array {
  const digest = createHash("sha256")
    .update(readFileSync(source))
    .update(rustc("--version"))
    .digest("hex")
    .slice(0, 16);
  const directory = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "prx-runtime", "test-guests");
  const file = join(directory, `probe-${digest}-${targets[kind]}.wasm`);
  if (!existsSync(file)) {
    mkdirSync(directory, { recursive: true });
    const made = `${file}.${process.pid}`;
    rustc("--edition", "2021", "-O", "-C", "strip=symbols", "--target", targets[kind], source, "-o", made);
    renameSync(made, file);
  }
  return readFileSync(file);
}

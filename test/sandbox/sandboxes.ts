/** Sandboxes with the seccomp filter and without it, and what system calls answer in them. */

import { execFileSync, type SpawnSyncReturns, spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { architectureOf, firejailSeccompFlags, seccompFilter } from "../../adapters/_native/seccomp-filter.ts";
import { numberOf, type SyscallName } from "../../adapters/_native/syscalls.ts";
import { missing } from "../fixtures/needed.ts";

const scratch = mkdtempSync(join(tmpdir(), "prx-seccomp-"));
chmodSync(scratch, 0o755);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const filter = seccompFilter(process.arch);
const filterFile = join(scratch, "filter");
writeFileSync(filterFile, filter ?? "");

export type Argv = readonly [string, ...string[]];
export type Sandbox = (...argv: Argv) => SpawnSyncReturns<string>;

const compiled = new Map<string, string>();
/** A program of ./programs, compiled once. */
export function program(name: string): string {
  const path = compiled.get(name) ?? join(scratch, name);
  if (compiled.has(name)) return path;
  const source = fileURLToPath(new URL(`programs/${name}.c`, import.meta.url));
  execFileSync("gcc", ["-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-o", path, source]);
  compiled.set(name, path);
  return path;
}

function start([file, ...args]: Argv, descriptor: number | "ignore" = "ignore"): SpawnSyncReturns<string> {
  return spawnSync(file, args, { encoding: "utf8", timeout: 20_000, stdio: ["ignore", "pipe", "pipe", descriptor] });
}

const walls = ["--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--proc", "/proc"];
export const unfiltered: Sandbox = (...argv) => start(["bwrap", ...walls, "--dev", "/dev", "--", ...argv]);
export const bubblewrap: Sandbox = (...argv) => {
  const descriptor = openSync(filterFile, "r");
  try {
    return start(["bwrap", ...walls, "--dev", "/dev", "--seccomp", "3", "--", ...argv], descriptor);
  } finally {
    closeSync(descriptor);
  }
};
const fireFlags = ["--noprofile", "--quiet", "--caps.drop=all", ...(firejailSeccompFlags(process.arch) ?? [])];
export const firejail: Sandbox = (...argv) => start(["firejail", ...fireFlags, "--", ...argv]);

/** Why a sandbox cannot be had here, or `null`. */
function reason(sandbox: Sandbox, name: string): string | null {
  if (filter === null) return `the numbers of ${process.arch} are not known`;
  const lost = missing("gcc", name);
  if (lost !== null) return lost;
  const { status, stderr } = sandbox("true");
  return status === 0 ? null : `${name} does not work here: ${stderr.trim()}`;
}
export const whyNotBubblewrap = reason(bubblewrap, "bwrap");
export const whyNotFirejail = reason(firejail, "firejail");

const errno = new Map([
  [0, "0"],
  [1, "EPERM"],
  [38, "ENOSYS"],
  [93, "EPROTONOSUPPORT"],
  [95, "EOPNOTSUPP"],
  [97, "EAFNOSUPPORT"],
]);

/** The call, by name or by number, and its arguments. */
type Call = readonly [SyscallName | number, ...(number | bigint)[]];

/** What each call answers in the sandbox. */
export function answers(sandbox: Sandbox, calls: readonly Call[]): readonly string[] {
  const architecture = architectureOf(process.arch) ?? "x86_64";
  const told = calls.map(([call, ...args]) => {
    const number = typeof call === "number" ? call : numberOf(call, architecture);
    return [number, ...args].join(":");
  });
  const { stdout, stderr, status } = sandbox(program("syscalls"), ...told);
  if (status !== 0) throw new Error(`It ended with ${status}: ${stderr}`);
  const lines = stdout.trim().split("\n");
  return calls.map(([call], at) => `${call}: ${errno.get(Number(lines[at])) ?? lines[at]}`);
}

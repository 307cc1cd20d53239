/** Makes a thing once, however many ask at the same time: it stands at its place whole, or not at all. */

import { type ExecFileSyncOptions, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rigHome, Unavailable } from "./place.ts";

/** Answers the path, after `make` has filled the place that it is given if there was nothing yet. */
export function once(path: string, make: (at: string) => void): string {
  if (existsSync(path)) return path;
  mkdirSync(join(rigHome, "stage"), { recursive: true });
  const stage = mkdtempSync(join(rigHome, "stage", "make-"));
  try {
    make(join(stage, "made"));
    place(join(stage, "made"), path);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
  return path;
}

/** In place of what is there. */
export function replaceFile(path: string, content: string): void {
  mkdirSync(join(rigHome, "stage"), { recursive: true });
  const stage = mkdtempSync(join(rigHome, "stage", "make-"));
  writeFileSync(join(stage, "made"), content);
  place(join(stage, "made"), path);
  rmSync(stage, { recursive: true });
}

function place(made: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    renameSync(made, path);
  } catch (error) {
    // A directory is not put over another: somebody was quicker with the same.
    if (!existsSync(path)) throw error;
  }
}

/** What a tool wrote to stdout. @throws Unavailable with `remedy` where there is no such tool, and with its complaint where it fails. */
export function tool(
  remedy: string,
  [program = "", ...args]: readonly string[],
  options: Pick<ExecFileSyncOptions, "cwd" | "env" | "input"> = {},
): Buffer {
  const { env, ...rest } = options;
  try {
    return execFileSync(program, args, {
      ...rest,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "pipe"],
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (error) {
    const { code, stderr } = error as { code?: string; stderr?: Buffer };
    if (code === "ENOENT") throw new Unavailable(`There is no ${program}. ${remedy}`);
    throw new Unavailable(`${[program, ...args].join(" ")} failed. ${remedy}\n${String(stderr ?? error).slice(-2000)}`);
  }
}

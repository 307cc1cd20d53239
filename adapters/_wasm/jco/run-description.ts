/** What a guest is run with, as it is handed to the host program: all that the guest will see. */

import { readFileSync, rmSync } from "node:fs";

export interface Preopen {
  /** A real path, without links. */
  readonly host: string;
  /** Where the guest sees it. */
  readonly guest: string;
  readonly writable: boolean;
}

export interface RunDescription {
  /** Of the transpiled files. */
  readonly directory: string;
  /** The guest's own name is the first. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly preopens: readonly Preopen[];
  readonly network: boolean;
  /** Of all memories of the guest together; `null`: no limit. */
  readonly memoryLimitBytes: number | null;
}

/** Reads a description and removes it before anything else happens: it holds the environment. */
export function takeDescription(file: string): RunDescription {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } finally {
    rmSync(file, { force: true });
  }
}

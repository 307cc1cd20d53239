/** The port through which the core sees the machine it runs on. The core itself names no runtime. */

import type { FileOwner } from "./types.ts";

/** What a path turned out to be. */
export type PathKind = "file" | "directory" | "other" | "missing";

/** A path as the machine sees it. */
export interface InspectedPath {
  readonly kind: PathKind;
  readonly realPath: string;
  /** Left out where nothing is there, or the platform has no such numbers. */
  readonly owner?: FileOwner;
}

/** The machine as the core needs it: little, read-only, and replaceable in a test. */
export interface Host {
  /** A name for this process that no other process, past or future, has. */
  readonly owner: string;
  /** The process's own working directory; relative ones of requests start here. */
  readonly workingDir: string;
  /** The host's variables. Read once for each plan; only whitelisted ones go further. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A name for one execution: unique everywhere, and not to be guessed from another. @default crypto.randomUUID */
  newId?(): string;
  /** Milliseconds by a clock that never steps. */
  now(): number;
  /** The path without symbolic links, or what is wrong with it. Follows links; never throws. */
  inspect(path: string): Promise<InspectedPath>;
}

/** The port through which the core sees the machine it runs on. The core itself names no runtime. */

/** What a path turned out to be. */
export type PathKind = "file" | "directory" | "other" | "missing";

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
  inspect(path: string): Promise<{ readonly kind: PathKind; readonly realPath: string }>;
}

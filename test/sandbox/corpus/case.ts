/** An ordinary command that must come to the same end in a sandbox as outside of one. */

import type { ErrorCode } from "../../../src/errors.ts";
import type { Sandbox } from "../against.ts";

/** One command, and what it works with. */
export interface CorpusCase {
  /** Stable; unique in the corpus. */
  readonly name: string;
  /** Programs that the case cannot do without, looked up on PATH. */
  readonly needs?: readonly string[];
  /** It takes minutes: asked where PRX_WHOLE is set. @default false */
  readonly slow?: boolean;
  /** One line of shell that tells by its exit code whether the case can be asked here, and why not if it cannot. */
  readonly probe?: { readonly line: string; readonly otherwise: string };
  /** Put into the working directory before, by path relative to it. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Lines for `bash -c`, run in the working directory. Either these or `command`. */
  readonly script?: readonly string[];
  /** A command and its arguments, for what a shell would get in the way of. */
  readonly command?: readonly [command: string, ...args: readonly string[]];
  readonly stdin?: string | Uint8Array;
  /** The name of the working directory. @default "work" */
  readonly directory?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The exit code that it has anywhere; in place of it the code of the error, where nothing can be started. @default 0 */
  readonly exits?: number | ErrorCode;
  /** @default 60000 */
  readonly timeoutMs?: number;
  /** Names or paths in the tree that no two runs have alike: dates, inode numbers, caches. What is below them counts as well. */
  readonly ignores?: readonly string[];
  /** Sandboxes that refuse the case before anything runs, each with the reason: that is what they must do. */
  readonly refusedBy?: Readonly<Partial<Record<Sandbox, string>>>;
  /** Sandboxes in which the case rightly comes to another end, each with the reason: nothing is compared there. */
  readonly otherwiseIn?: Readonly<Partial<Record<Sandbox, string>>>;
  /** Why stdout may rightly be another in a sandbox. Then exit code and tree alone are compared. */
  readonly differs?: string;
}

/** A command that tries to get out of its sandbox, and how the host sees whether it did. */

import type { Outcome } from "../../../mod.ts";
import type { Scene } from "./scene.ts";

/** What the command showed. */
export interface Evidence {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly outcome: Outcome;
}

/** An attack made ready on this host. */
export interface Staged {
  /** Lines for `bash -c`, run in the workspace. */
  readonly script: readonly string[];
  /** Put into the workspace before. */
  readonly files?: Readonly<Record<string, string>>;
  /** The request's variables; the operator lets loader variables pass. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Judged on the host after the command's end: by what it sees there where that can be, else by a secret or a mark on
   * stdout. Never by an exit code.
   */
  succeeded(evidence: Evidence): boolean | Promise<boolean>;
}

export interface Attack {
  /** Stable; unique in the set. */
  readonly name: string;
  /** Where it can succeed without a sandbox; left out for both. */
  readonly onlyAs?: "root" | "user";
  /** Why it fails even without a sandbox, where the native backend itself is in its way. */
  readonly stoppedAnyway?: string;
  /** Programs that it needs. */
  readonly needs?: readonly string[];
  /** Why it cannot be tried on this machine, or `null`. */
  readonly obstacle?: () => string | null;
  /** Puts in place what is attacked. What it changes is put back by the scene. */
  stage(scene: Scene): Staged | Promise<Staged>;
}

/** What a script prints when the kernel let it do something that leaves no trace on the host. */
export const allowed = "ALLOWED";
export const saysAllowed = ({ stdout }: Evidence): boolean => stdout.includes(allowed);

/** Whether the secret came out by way of stdout. */
export const shows =
  (secret: string) =>
  ({ stdout }: Evidence): boolean =>
    stdout.includes(secret);

/** A Python program as a script's file and its call. `report` says whether a call was allowed, also by an error that shows so. */
export function python(text: string, args: readonly string[] = []): Pick<Staged, "script" | "files"> {
  const prelude = `import ctypes, os, sys, errno, struct, socket
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def sys_call(*a):
    r = libc.syscall(*[ctypes.c_long(x) if isinstance(x, int) else x for x in a])
    return r if r >= 0 else -ctypes.get_errno()
def report(r, *good):
    print("${allowed}" if r >= 0 or -r in good else errno.errorcode[-r], flush=True)
`;
  const quoted = args.map((arg) => `'${arg}'`).join(" ");
  return { files: { "attack.py": `${prelude}${text}` }, script: [`/usr/bin/env python3 attack.py ${quoted}`] };
}

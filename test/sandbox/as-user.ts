/** Runs a program of the tests as a user without privileges, who has a home directory and nothing else. */

import { execFile } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { otherUser } from "../fixtures/firejail.ts";
import { runScript } from "../fixtures/runtimes.ts";
import type { Sandbox } from "./against.ts";

const nobody = 65_534;
const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => existsSync(path));

/** Somebody without privileges, and the sandbox that is held against the host as them. */
export interface User {
  readonly name: string;
  readonly sandbox: Sandbox;
  readonly uid: number;
  readonly gid: number;
  /** @default one that is made for the run */
  readonly home?: string;
}

/** firejail lets everybody in but nobody. */
export function users(): readonly User[] {
  const other = otherUser();
  const first: User = { name: "nobody", sandbox: "bubblewrap", uid: nobody, gid: nobody };
  return other === null ? [first] : [first, { name: `user ${other.uid}`, sandbox: "firejail", ...other }];
}

/** Why nothing can be run as another user here, or `null`. */
export function usersObstacle(): string | null {
  if (process.getuid?.() !== 0) return "only root can become another user";
  return setpriv === undefined ? "there is no setpriv program" : null;
}

/** @returns what the script, given these words, printed as its last line, read as JSON */
export async function runAs(
  { name, uid, gid, sandbox, home: own }: User,
  script: string,
  words: readonly string[] = [],
): Promise<unknown> {
  const base = mkdtempSync(join(tmpdir(), "prx-user-"));
  const [home, temporary] = [join(base, "home"), join(base, "tmp")];
  for (const path of [home, temporary]) mkdirSync(path);
  for (const path of [base, home, temporary]) {
    chownSync(path, uid, gid);
    chmodSync(path, 0o700);
  }
  try {
    const identity = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
    const { PATH, LANG, TERM, PRX_WHOLE } = process.env;
    const { stdout } = await promisify(execFile)(
      setpriv ?? "setpriv",
      [...identity, ...runScript, fileURLToPath(new URL(script, import.meta.url)), ...words],
      {
        env: {
          PATH,
          LANG,
          TERM,
          ...(PRX_WHOLE === undefined ? {} : { PRX_WHOLE }),
          USER: name,
          PRX_AGAINST: sandbox,
          HOME: own ?? home,
          TMPDIR: temporary,
          DENO_DIR: join(home, "deno"),
        },
        cwd: fileURLToPath(new URL("../..", import.meta.url)),
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

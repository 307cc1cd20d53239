/** Runs a program of the tests as a user without privileges, who has a home directory and nothing else. */

import { execFile } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runScript } from "../fixtures/runtimes.ts";

const nobody = 65_534;
const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => existsSync(path));

/** Why nothing can be run as another user here, or `null`. */
export function nobodysObstacle(): string | null {
  if (process.getuid?.() !== 0) return "only root can become another user";
  return setpriv === undefined ? "there is no setpriv program" : null;
}

/** @returns what the script printed as its last line, read as JSON */
export async function runAsNobody(script: string, args: readonly string[] = []): Promise<unknown> {
  const home = mkdtempSync(join(tmpdir(), "prx-nobody-"));
  chownSync(home, nobody, nobody);
  chmodSync(home, 0o700);
  try {
    const identity = [`--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"];
    const { PATH, LANG, TERM, PRX_WHOLE } = process.env;
    const { stdout } = await promisify(execFile)(
      setpriv ?? "setpriv",
      [...identity, ...runScript, fileURLToPath(new URL(script, import.meta.url)), ...args],
      {
        env: {
          PATH,
          LANG,
          TERM,
          ...(PRX_WHOLE === undefined ? {} : { PRX_WHOLE }),
          USER: "nobody",
          HOME: home,
          TMPDIR: home,
          DENO_DIR: join(home, "deno"),
        },
        cwd: fileURLToPath(new URL("../..", import.meta.url)),
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

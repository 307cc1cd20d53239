/** A directory of a test file's own, gone after it. */

import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";

export interface Scratch {
  readonly path: string;
  /** The absolute path of a file or directory in it. */
  at(path: string): string;
  /** Writes a file, its parents included, with exactly this mode. */
  write(path: string, content?: string | Uint8Array, mode?: number): string;
  makeDirectory(path: string): string;
}

export function scratchDirectory(): Scratch {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "prx-native-")));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  const at = (name: string) => join(path, name);
  return {
    path,
    at,
    write: (name, content = "", mode = 0o644) => {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), content);
      chmodSync(at(name), mode);
      return at(name);
    },
    makeDirectory: (name) => {
      mkdirSync(at(name), { recursive: true });
      return at(name);
    },
  };
}

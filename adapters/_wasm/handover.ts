/** What an engine is told by a file, because its arguments are seen by everybody: it holds the guest's variables. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Handover {
  readonly path: string;
  write(text: string): void;
  /** The engine removes it when it has read it; where it did not come to that, this does. */
  remove(): void;
}

/** @param directory one that is this user's alone */
export function openHandover(directory: string, execution: string): Handover {
  const path = join(directory, `making-${execution}.json`);
  return {
    path,
    write: (text) => writeFileSync(path, text, { mode: 0o600, flag: "wx" }),
    remove: () => rmSync(path, { force: true }),
  };
}

/** Paths without symbolic links. */

import { realpathSync } from "node:fs";

/** As the kernel sees it; `null` where nothing is there, or it cannot be reached. */
export function realPathOf(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

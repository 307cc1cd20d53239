/** The version of this program, as its package says. */

import { readFileSync } from "node:fs";

/** Looks upwards from here: in a checkout the package is one folder above, in what npm installs it is two. */
export function readVersion(): string {
  for (const folder of ["../", "../../"]) {
    for (const name of ["package.json", "deno.json"]) {
      const version = versionIn(new URL(`${folder}${name}`, import.meta.url));
      if (version !== null) return version;
    }
  }
  return "unknown";
}

function versionIn(file: URL): string | null {
  try {
    const { name, version } = JSON.parse(readFileSync(file, "utf8")) as { name?: unknown; version?: unknown };
    const isOurs = name === "prx-runtime" || name === "@openprx/prx-runtime";
    return isOurs && typeof version === "string" ? version : null;
  } catch {
    return null;
  }
}

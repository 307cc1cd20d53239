/** Directories of the host that a command is granted: as they are written, and as a tool narrows them. */

import { readGrant } from "./config/names.ts";
import type { GrantedDirectory } from "./types.ts";

/** Grants as a configuration writes them: `HOST`, or `HOST::GUEST`. */
export interface WrittenGrants {
  readonly filesystem_read?: readonly string[] | undefined;
  readonly filesystem_write?: readonly string[] | undefined;
}

/**
 * What is granted. A key that the tool leaves out grants all that the backend does; what is granted both ways, to read and
 * to write, can be written.
 *
 * @example
 * ```ts
 * const granted = grantedDirectories({ filesystem_read: ["/srv::/data"], filesystem_write: ["/out"] }, { filesystem_write: [] });
 * granted.map(({ host, guest }) => `${guest} is ${host}`); // → ["/data is /srv"]
 * ```
 */
export function grantedDirectories(backend: WrittenGrants, tool: WrittenGrants = {}): readonly GrantedDirectory[] {
  const read = (key: keyof WrittenGrants, writable: boolean) =>
    (tool[key] ?? backend[key] ?? []).map((written) => ({ ...readGrant(written), writable }));
  const byGuest = new Map<string, GrantedDirectory>();
  for (const grant of [...read("filesystem_read", false), ...read("filesystem_write", true)])
    byGuest.set(grant.guest, Object.freeze(grant));
  return [...byGuest.values()];
}

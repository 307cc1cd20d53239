/** Keys of a sandbox that nobody asked for. */

import { type Config, writtenKeys } from "../../../src/config.ts";
import type { Availability } from "../../../src/types.ts";

/** A key of the sandbox's that somebody wrote without asking for one would be ignored. */
export function whyUnused(config: Config): (Availability & { readonly available: false }) | null {
  const keys = [...writtenKeys(config)].filter(
    (key) => key.startsWith("security.sandbox.") && key !== "security.sandbox.backend",
  );
  if (keys.length === 0) return null;
  return {
    available: false,
    reason: `${keys.join(", ")} ${keys.length === 1 ? "is" : "are"} for a sandbox, and security.sandbox.backend = "none" asks for none`,
    remedy: 'Set security.sandbox.backend = "auto", or leave these keys out',
  };
}

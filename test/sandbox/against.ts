/** Which sandboxes the corpus and the hostile set are held against. */

import { obstacleTo } from "./ways.ts";

/** `"none"` is the host itself: every case comes to the same end twice there, and every attack succeeds. */
export type Sandbox = "none" | "bubblewrap" | "firejail";

const only = process.env["PRX_AGAINST"];
const all = (["bubblewrap", "firejail"] as const).filter((name) => only === undefined || only === name);

/** Each with the reason why it cannot be had here, or `null`. */
export const tried: readonly (readonly [Sandbox, string | null])[] = await Promise.all(
  all.map(async (sandbox) => [sandbox, await obstacleTo(sandbox)] as const),
);

/** Those that work here. */
export const sandboxes: readonly Sandbox[] = tried.filter(([, obstacle]) => obstacle === null).map(([name]) => name);

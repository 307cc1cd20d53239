/** Which sandboxes the corpus and the hostile set are held against. */

/** `"none"` is the host itself: every case comes to the same end twice there, and every attack succeeds. */
export const sandboxes = ["none", "bubblewrap"] as const;

export type Sandbox = "none" | "bubblewrap" | "firejail";

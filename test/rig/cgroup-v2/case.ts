/** One thing to be shown. */

import type { PlaceKind } from "./place.ts";

export interface Case {
  readonly title: string;
  /** @default "own" */
  readonly place?: PlaceKind;
  /** Another process that is in the host's cgroup before it. @default false */
  readonly shared?: boolean;
  /** The host sees the cgroup file system as containers often do. @default false */
  readonly readOnly?: boolean;
  /** The host is killed as soon as it says `ready`, and the next start has to clean up. @default false */
  readonly crash?: boolean;
  /** @throws Error when something is not as it should be. */
  readonly run: () => Promise<void>;
}

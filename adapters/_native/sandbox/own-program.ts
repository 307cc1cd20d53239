/** What of this very program a sandboxed command could write, and what is mounted anew so that it cannot. Pure. */

import { type OwnProgram, partAround } from "../../../host/own-program.ts";
import type { Mount, SandboxView } from "./view.ts";

/** What of it can be kept by mounting it anew: not the very place that a command works in, which would be none then. */
export function keptOf({ places }: OwnProgram, workingDir: string | null, listed: readonly Mount[]): readonly string[] {
  const isWritable = (place: string) => listed.some((mount) => mount.kind === "writable" && mount.source === place);
  return places.filter((place) => place !== workingDir && !isWritable(place));
}

/** Whether a command may write a directory of the program: that cannot be both writable and as it is. */
export function ownsItself({ mounts }: SandboxView, program: OwnProgram): string | null {
  for (const mount of mounts) {
    if (mount.kind !== "writable" || mount.isPin === true) continue;
    const place = partAround(mount.source, program);
    if (place === null) continue;
    return `The command can write ${mount.at}, which is a part of this program itself (${place}): choose another directory, or start a copy of the program that is elsewhere`;
  }
  return null;
}

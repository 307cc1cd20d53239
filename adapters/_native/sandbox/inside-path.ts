/** Follows a path as it will be followed inside of a sandbox, and looks at nothing on the way that is not seen there. */

import { lstatSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { linkAt } from "../../../host/directory-walk.ts";
import { type HeldFile, holdDirectory, holdFile } from "../../../host/held-directory.ts";
import { realPathOf } from "../real-path.ts";
import { coveredBy, isBelow, type Mount, type SandboxView } from "./view.ts";

/** Where a path leads inside. */
export type InsidePath =
  | { readonly kind: "seen"; readonly file: HeldFile }
  | {
      /** `hidden`: of the host, which is not asked whether it is there. */
      readonly kind: "missing" | "hidden";
      /** What is not there, or not seen. */
      readonly path: string;
      /** Whether a link led there that a command may have made. */
      readonly isGuided: boolean;
    };

/** The most links that one path may lead through, as in the kernel. */
const mostLinks = 40;

/**
 * @param path absolute
 * @returns With a file that is held until it is closed.
 */
export function followInside(path: string, { mounts }: Pick<SandboxView, "mounts">): InsidePath {
  const names = split(path);
  let here = "/";
  let links = 0;
  let isGuided = false;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const next = join(here, name);
    const place = placeOf(next, mounts);
    if (place === "hidden") return { kind: "hidden", path: join(next, ...names), isGuided };
    const link = place === "holder" || name === ".." ? null : linkOf(place);
    if (link === undefined || links > mostLinks) return { kind: "missing", path: join(next, ...names), isGuided };
    here = link === null ? next : link.startsWith("/") ? "/" : here;
    if (link === null) continue;
    links += 1;
    isGuided ||= place !== "holder" && place.isWritable;
    names.unshift(...split(link));
  }
  const end = placeOf(here, mounts);
  const file = typeof end === "string" ? null : fileAt(end);
  return file === null ? { kind: "missing", path: here, isGuided } : { kind: "seen", file };
}

/** A place inside that shows one of the host's, or a link that the sandbox itself has. */
interface Place {
  /** A real path of the host, but for its last name. */
  readonly source: string;
  /** Whether commands may change what leads there. */
  readonly isWritable: boolean;
  /** Of a link of the sandbox's own. */
  readonly to?: string;
}

/** `holder`: a directory that is there because something is mounted in it. */
function placeOf(path: string, mounts: readonly Mount[]): Place | "holder" | "hidden" {
  const mount = coveredBy(path, mounts);
  if (mount === null || mount.kind === "private")
    return mounts.some(({ at }) => isBelow(at, path)) ? "holder" : "hidden";
  if (mount.kind === "link") return { source: path, isWritable: false, to: mount.to };
  const rest = path.slice(mount.at.length);
  const isWritable = mounts.some((other) => other.kind === "writable" && isBelow(mount.source + rest, other.source));
  // What is mounted is no link, also where its source is one: that of the settings leads to the newest copies.
  const isMount = rest === "" && !isWritable;
  return { source: (isMount ? realPathOf(mount.source) : null) ?? mount.source + rest, isWritable };
}

/** What a link says; `null` for what is none; `undefined` where nothing is. */
function linkOf({ source, isWritable, to }: Place): string | null | undefined {
  if (to !== undefined) return to;
  const look = (place: string) => {
    const stats = statsOf(place);
    return stats === undefined ? undefined : stats.isSymbolicLink() ? linkAt(place) : null;
  };
  return isWritable ? inHeld(source, look) : look(source);
}

function fileAt({ source, isWritable }: Place): HeldFile | null {
  try {
    const file = isWritable ? inHeld(source, holdFile) : holdFile(source);
    // A link that was put there since is followed by nobody.
    if (file === undefined || !file.stats.isSymbolicLink()) return file ?? null;
    file.close();
    return null;
  } catch {
    return null;
  }
}

/** Where a command may be at work, what leads to a file is held while it is looked at. */
function inHeld<Result>(path: string, use: (place: string) => Result): Result | undefined {
  try {
    const directory = holdDirectory(dirname(path));
    try {
      return use(directory.at(basename(path)));
    } finally {
      directory.close();
    }
  } catch {
    return undefined;
  }
}

function statsOf(place: string): Stats | undefined {
  try {
    return lstatSync(place, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function split(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

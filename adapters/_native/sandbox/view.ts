/** What a sandboxed command sees of the file system: composed from its parts. Pure. */

/** One place inside the sandbox. Paths are absolute and normal; `source` is a real path of the host. */
export type Mount =
  | {
      readonly kind: "readonly" | "writable";
      readonly at: string;
      readonly source: string;
      /** It shows nothing new, and is there to be a mount point, which cannot be renamed. */
      readonly isPin?: true;
      /** The machine's or this host's: no command can put something else in the place of its source. */
      readonly isSystem?: true;
      /** What leads to the source by the name that is listed: each link by its own place on the host. */
      readonly links?: readonly string[];
    }
  /** Empty, writable, and gone with the sandbox. */
  | { readonly kind: "private"; readonly at: string }
  /** A symbolic link. */
  | { readonly kind: "link"; readonly at: string; readonly to: string };

/** Everything a sandbox program is told, in its words or its own. */
export interface SandboxView {
  /** Those above come before those below them. */
  readonly mounts: readonly Mount[];
  /** The host's network, or none at all. */
  readonly network: boolean;
  readonly workingDir: string;
}

/** What a view is composed of. */
export interface ViewParts {
  /** Programs, libraries and settings of the system. */
  readonly system: readonly Mount[];
  /** What programs on the PATH need besides. */
  readonly toolchains: readonly Mount[];
  /** What the operator lists. */
  readonly listed: readonly Mount[];
  readonly workingDir: string;
  /** The command's own `HOME`; `null` where it has none. */
  readonly home: string | null;
  /** Names in the working directory that stay as they are, or stay missing. */
  readonly protectedPaths: readonly string[];
  /** Directories of the host that keep their places, wherever they could be renamed. @default none */
  readonly pins?: readonly string[];
  /** Files and directories of the host that stay as they are, wherever they would be writable. */
  readonly keptFiles: readonly string[];
  /** Directories of the host that nothing else may show. */
  readonly hidden: readonly string[];
  readonly network: boolean;
}

/**
 * The directory that every command has to itself. The other one for temporary files is a link to it, where it need not be a
 * directory: for what is mounted over it, or in it, or is to be made there.
 */
function temporary(shown: readonly Mount[], home: string | null): readonly Mount[] {
  const varTmp = "/var/tmp";
  const isDirectory =
    shown.some(({ at }) => isBelow(varTmp, at) || isBelow(at, varTmp)) || (home !== null && isBelow(home, varTmp));
  return [privateAt("/tmp"), isDirectory ? privateAt(varTmp) : { kind: "link", at: varTmp, to: "/tmp" }];
}

/** What a working directory may not hold: there the sandbox has something of its own. */
export const ownPlaces: readonly string[] = ["/tmp", "/var/tmp", "/run", "/proc", "/sys", "/dev", "/etc"];

/** The later of two that name one place wins: the system's, toolchains', private ones, what is listed, the working directory. */
export function composeView(parts: ViewParts): SandboxView {
  const { system, toolchains, listed, workingDir, home, network } = parts;
  const own: Mount = { kind: "writable", at: workingDir, source: workingDir };
  const writable = [own, ...listed.filter(({ kind }) => kind === "writable")];
  // A directory of tools inside of the project belongs to the project: it stays writable.
  const tools = toolchains.filter(({ at }) => !writable.some((mount) => isBelow(at, mount.at)));
  const tmp = temporary([...tools, ...listed, own], home);
  const fixed = [...system, ...tools, ...tmp, ...listed, own];
  const homes = home !== null && needsOwnHome(home, fixed) ? [privateAt(home)] : [];
  const names = parts.protectedPaths.map((path) => `${workingDir}/${path.replace(/\/+$/, "")}`);
  // What nothing writable holds is as it is anyway.
  const held = parts.keptFiles.filter((file) =>
    writable.some((mount) => "source" in mount && isBelow(file, mount.source)),
  );
  const kept = [...names, ...held].flatMap((source) =>
    placesOf(source, fixed).map((at): Mount => ({ kind: "readonly", at, source })),
  );
  const pinned = (parts.pins ?? []).flatMap((source) =>
    placesOf(source, fixed)
      .filter((at) => coveredBy(at, fixed)?.kind === "writable" && !fixed.some((mount) => mount.at === at))
      .map((at): Mount => ({ kind: "writable", at, source, isPin: true })),
  );
  const covers = parts.hidden.flatMap((path) => placesOf(path, fixed)).map(privateAt);
  const byPlace = new Map<string, Mount>();
  for (const mount of [...system, ...tools, ...tmp, ...homes, ...listed, own, ...pinned, ...kept, ...covers]) {
    byPlace.delete(mount.at);
    byPlace.set(mount.at, mount);
  }
  // Taken away or renamed, what is listed would be followed by the next start to whatever was put in its place.
  const chosen = [...byPlace.values()].flatMap((mount): readonly Mount[] => {
    if (!isRepeated(mount, outerOf(mount, byPlace)) || pinned.includes(mount)) return [mount];
    return mount.kind === "writable" && mount.at === mount.source && listed.includes(mount)
      ? [{ ...mount, isPin: true }]
      : [];
  });
  const mounts = [...chosen, ...pinsOf(chosen)].sort((a, b) => depth(a.at) - depth(b.at));
  return { mounts, network, workingDir };
}

/**
 * Directories between a writable one and a mount inside of it, each mounted over itself: a mount point cannot be renamed, and
 * by renaming what is above a mount a command would get its place back.
 */
function pinsOf(mounts: readonly Mount[]): readonly Mount[] {
  const byPlace = new Map(mounts.map((mount) => [mount.at, mount]));
  const pins = new Map<string, Mount>();
  for (const mount of mounts) {
    const outer = outerOf(mount, byPlace);
    if (outer?.kind !== "writable") continue;
    for (let end = mount.at.lastIndexOf("/"); end > outer.at.length; end = mount.at.lastIndexOf("/", end - 1)) {
      const at = mount.at.slice(0, end);
      pins.set(at, { kind: "writable", at, source: outer.source + at.slice(outer.at.length), isPin: true });
    }
  }
  return [...pins.values()];
}

/** The mount that another one lies in, or `null`. */
function outerOf({ at }: Mount, byPlace: ReadonlyMap<string, Mount>): Mount | null {
  for (let path = at; path !== "/"; ) {
    path = path.slice(0, path.lastIndexOf("/")) || "/";
    const outer = byPlace.get(path);
    if (outer !== undefined) return outer;
  }
  return null;
}

/** Whether a path is another or lies in it. */
export function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}

/** The path of the host that a path inside shows; `null` where nothing of the host is seen there. */
export function hostPath({ mounts }: Pick<SandboxView, "mounts">, path: string): string | null {
  const mount = coveredBy(path, mounts);
  if (mount === null || mount.kind === "private" || mount.kind === "link") return null;
  return mount.source + path.slice(mount.at.length);
}

/** Whether a command could change what is at a path of the host, by whatever name it is seen. */
export function isWritable(path: string, mounts: readonly Mount[]): boolean {
  return placesOf(path, mounts).some((place) => coveredBy(place, mounts)?.kind === "writable");
}

/** Where a path of the host is seen: what is listed by a link is there by both of its names. */
function placesOf(path: string, mounts: readonly Mount[]): readonly string[] {
  const places = mounts.flatMap((mount) =>
    "source" in mount && isBelow(path, mount.source) ? [mount.at + path.slice(mount.source.length)] : [],
  );
  return places.filter((place) => hostPath({ mounts }, place) === path);
}

/** The mount that decides about a path, or `null`: of two at one place the later. */
export function coveredBy(path: string, mounts: readonly Mount[]): Mount | null {
  let found: Mount | null = null;
  for (const mount of mounts)
    if (isBelow(path, mount.at) && (found === null || mount.at.length >= found.at.length)) found = mount;
  return found;
}

function privateAt(at: string): Mount {
  return { kind: "private", at };
}

/** A home that shows something already, or that would hide what was asked for or the sandbox has, is none of its own. */
function needsOwnHome(home: string, mounts: readonly Mount[]): boolean {
  if (!/^(?:\/(?!\.{1,2}(?:\/|$))[^/]+)+$/.test(home)) return false;
  if (["/proc", "/sys", "/dev", "/etc", "/run"].some((place) => isBelow(home, place))) return false;
  const covering = coveredBy(home, mounts);
  const hidesSystem = mounts.some(({ kind, at }) => kind === "readonly" && at.startsWith("/usr") && isBelow(at, home));
  return (covering === null || covering.kind === "private") && !hidesSystem;
}

/** What is seen through the mount above it in the very same way. */
function isRepeated(mount: Mount, above: Mount | null): boolean {
  // A private place has to be there by itself, although what is above it is private too.
  if (mount.kind === "link" || mount.kind === "private") return false;
  if (above === null || above.kind === "link" || above.kind === "private") return false;
  // A link on the way to what is listed is there by itself, since what holds it is.
  if (mount.at !== mount.source && above.at === above.source) return true;
  if (above.kind !== mount.kind) return false;
  return above.source + mount.at.slice(above.at.length) === mount.source;
}

function depth(path: string): number {
  return path === "/" ? 0 : path.split("/").length - 1;
}

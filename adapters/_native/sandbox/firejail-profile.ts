/**
 * What a sandbox shows, in the lines of a firejail profile (firejail-profile(5)). Pure.
 *
 * A directory of `/` in which something is whitelisted is empty but for that; every other one is blacklisted, also those that
 * nobody knew of: the pattern is expanded inside.
 */

import type { FirejailFacts } from "./firejail-facts.ts";
import { keyFiles } from "./sandbox-program.ts";
import { coveredBy, isBelow, type Mount, type SandboxView } from "./view.ts";

type HostMount = Mount & { readonly kind: "readonly" | "writable" };

/** A profile, and what is left to do inside, where firejail has no line for it. */
export interface FirejailProfile {
  readonly text: string;
  /** Something of `/var/tmp` is shown; else firejail has one of its own there. */
  readonly keepsVarTmp: boolean;
  /** Directories to make. */
  readonly make: readonly string[];
  /** Those of them that have to be empty but for what is mounted inside: else they are the host's. */
  readonly empty: readonly { readonly path: string; readonly but: readonly string[] }[];
  /** Files to remove that firejail puts into an empty home, as far as they are there. */
  readonly remove: readonly string[];
  /** What is shown, and has to be seen; by a link where it is somewhere else. */
  readonly shown: readonly HostMount[];
}

/** What is there in any case: firejail makes its own, or empties it. */
const always = ["/dev", "/proc", "/etc", "/tmp", "/run", "/var"];
/** firejail's own records: of no concern inside, and root could write to them. */
const records = ["appimage", "bandwidth", "dbus", "name", "network", "profile", "sandbox", "x11"];
/** What it puts into a home that it empties: of its own, and copies of the real ones (fs_home.c). */
const homeFiles = [".bashrc", ".zshrc", ".cshrc", ".inputrc", ".Xauthority", ".asoundrc"];

export function profileOf(view: SandboxView, facts: FirejailFacts): FirejailProfile {
  const { uid, home, settings, nothing } = facts;
  // Of the system's settings what is for everybody is shown as it is; all of them only where they are listed.
  const mounts = view.mounts.filter((mount) => mount.at !== "/etc" || ("source" in mount && mount.source === "/etc"));
  const hosts = mounts.filter(isOfHost);
  const hasEtc = isShown("/etc", hosts);
  const privates = mounts.filter(({ kind }) => kind === "private").map(({ at }) => at);
  const covers = privates.filter((at) => isShown(at, hosts));
  const roots = new Set([...always, ...mounts.filter(({ kind }) => kind === "link").map(({ at }) => topOf(at))]);
  const keepsVarTmp = hosts.some(({ at }) => isBelow(at, "/var/tmp"));
  const varTmp = keepsVarTmp ? [] : ["/var/tmp"];
  const shownSettings = settings.shown.filter((path) => !(hasEtc && isBelow(path, "/etc")));
  const whitelist = new Set([`/tmp/${nothing}`, `/run/${nothing}`, ...varTmp, ...shownSettings]);
  for (const mount of hosts) {
    for (const place of [mount.source, mount.at]) {
      if (isShownFromAbove(place, hosts)) continue;
      roots.add(topOf(place));
      if (place !== topOf(place)) whitelist.add(place);
    }
  }
  const make = privates.filter(
    (at) => !covers.includes(at) && at !== home.path && (uid === 0 || isBelow(at, "/tmp") || isBelow(at, home.path)),
  );
  for (const at of make) roots.add(topOf(at));
  const ownHome = homeLines(facts, { hosts, privates, roots });
  if (ownHome.empty === "whitelist") whitelist.add(`${home.path}/${nothing}`);
  // Emptied also where all that is seen of it is in the user's home, which firejail takes for a directory by itself.
  // A private place shows nothing: what is in its place on the host has to go.
  const seen = mounts.filter(({ kind }) => kind !== "private");
  const emptied = new Set(
    [...roots].filter((path) => !isFirejails(path) && path !== home.path && !isShown(path, seen)),
  );
  for (const path of emptied) whitelist.add(`${path}/${nothing}`);
  const linked = hosts.filter(({ at, source, kind }) => at !== source || kind === "writable").map(({ at }) => at);
  const written = ["/tmp", "/var/tmp", home.path, ...make, ...linked];
  const sealed = [...emptied].filter((path) => !written.some((place) => isBelow(place, path)));
  return {
    text: [
      ...[...roots].map((path) => `noblacklist ${path}`),
      ...[...whitelist].map((path) => `whitelist ${path}`),
      ...["blacklist /*", ...covers.map((path) => `blacklist ${path}`)],
      ...(hasEtc ? [] : settings.withheld).map((path) => `blacklist ${path}`),
      // Of itself it hides all else of that kind.
      ...keyFiles.map((path) => `blacklist ${path}`),
      ...(hosts.some(({ at }) => isBelow(at, "/run/user")) ? [] : ["blacklist /run/user"]),
      ...(ownHome.empty === "blacklist" ? [`blacklist ${home.path}`] : []),
      ...(ownHome.empty === "tmpfs" ? [`tmpfs ${home.path}`] : []),
      ...(uid === 0 ? rootLines(sealed) : []),
      ...hosts.flatMap((mount) => accessLine(mount, hosts, uid)),
      ...covers.map((path) => `read-only ${path}`),
      "",
    ].join("\n"),
    keepsVarTmp,
    make: make.filter((path) => path !== "/tmp"),
    empty: make.filter((path) => !always.includes(path)).map((path) => ({ path, but: namesIn(path, mounts) })),
    remove:
      ownHome.empty === "whitelist"
        ? homeFiles.map((name) => `${home.path}/${name}`).filter((path) => !isShown(path, hosts))
        : [],
    shown: hosts,
  };
}

/** Root owns `/`, what was emptied, and what firejail keeps on the host; any other user can write to none of it. */
function rootLines(sealed: readonly string[]): readonly string[] {
  return [
    "read-only /",
    ...["/etc", ...sealed].map((path) => `read-only ${path}`),
    ...records.map((name) => `blacklist /run/firejail/${name}`),
    "read-only /run/firejail",
    // A tmpfs of its own that it still writes to, but for the host's directory that it puts over devices there.
    ...["read-write /run/firejail/mnt", "read-only /run/firejail/mnt/dev"],
  ];
}

/**
 * Written to only where something above is read-only, or where a mount point is wanted: the line is for all that is mounted below as well, and what the host keeps
 * read-only there is to stay so.
 */
function accessLine({ kind, source, isPin }: HostMount, hosts: readonly HostMount[], uid: number): readonly string[] {
  if (kind === "readonly") return [`read-only ${source}`];
  const isOnRoot = uid === 0 && source === topOf(source);
  const isInReadonly =
    (uid === 0 && isBelow(source, "/etc")) ||
    hosts.some((above) => above.kind === "readonly" && above.source !== source && isBelow(source, above.source));
  // It mounts nothing over itself that is writable already.
  if (isPin) return [`read-only ${source}`, `read-write ${source}`];
  return isOnRoot || isInReadonly ? [`read-write ${source}`] : [];
}

interface HomeSurroundings {
  readonly hosts: readonly HostMount[];
  readonly privates: readonly string[];
  /** Gets the directory of `/` that the home is in, where it is to be seen. */
  readonly roots: Set<string>;
}

/**
 * The user's home by the list of users, which firejail brings back into a directory that it has emptied. `whitelist` empties
 * it, but for what is whitelisted in it; for root a tmpfs is the better one, since in the other no program can be run.
 */
function homeLines(
  { uid, home }: FirejailFacts,
  { hosts, privates, roots }: HomeSurroundings,
): { readonly empty: "whitelist" | "blacklist" | "tmpfs" | "not" } {
  const { path, isOwn } = home;
  const isWanted = privates.includes(path);
  const holds = hosts.some(({ at, source }) => isBelow(at, path) || isBelow(source, path));
  if (isShown(path, hosts) || path === "/") return { empty: "not" };
  if (!roots.has(topOf(path)) && !isWanted && !holds) return { empty: "not" };
  if (!isOwn) return { empty: "blacklist" };
  roots.add(topOf(path));
  return { empty: uid === 0 && !holds ? "tmpfs" : "whitelist" };
}

/** Whether something of the host, or a link, is seen there. */
function isShown(path: string, mounts: readonly Mount[]): boolean {
  return coveredBy(path, mounts) !== null;
}

function isOfHost(mount: Mount): mount is HostMount {
  return mount.kind === "readonly" || mount.kind === "writable";
}

function isFirejails(path: string): boolean {
  return path === "/dev" || path === "/proc" || path === "/etc";
}

function isShownFromAbove(path: string, hosts: readonly HostMount[]): boolean {
  return hosts.some(({ at, source }) => at === source && at !== path && isBelow(path, at));
}

/** Entries of a directory in which something else is mounted. */
function namesIn(directory: string, mounts: readonly Mount[]): readonly string[] {
  const places = mounts.flatMap((mount) => ("source" in mount ? [mount.at, mount.source] : [mount.at]));
  const inside = places.filter((path) => path !== directory && isBelow(path, directory));
  return [...new Set(inside.map((path) => path.slice(directory.length + 1).split("/")[0] ?? ""))];
}

function topOf(path: string): string {
  return `/${path.split("/")[1] ?? ""}`;
}

/** Bytes that firejail takes for something else or refuses (`reject_meta_chars` in common.c; comments in profile.c; fnmatch(3)). */
const misread = /[\\&!?"<>%^{};,*[\]#\p{Cc}]|\.\.| {2}| $/u;

const remedy = "choose another path, or bubblewrap";
/** Where firejail has something of its own, or nothing, whatever it is told (fs_var.c; `fs_proc_sys_dev_boot` of fs.c). */
const occupied =
  /^\/(?:var\/(?:lock|lib\/(?:dhcp|nginx|snmp|sudo)|cache\/(?:apache2|lighttpd))|run\/(?:lock|firejail)|boot|selinux|(?:usr\/)?lib\/modules|usr\/lib\/debug|usr\/src\/linux)(?=\/|$)/;
/** Empty but for what is named below them, or with something of firejail's own in them: never to be shown as a whole. */
const divided = ["/run", "/tmp", "/var"];

/** Why a view cannot be told to firejail, or `null`. */
export function unshowable({ mounts }: SandboxView, { uid, home }: Pick<FirejailFacts, "uid" | "home">): string | null {
  for (const mount of mounts) {
    if (mount.kind === "link") continue;
    const isInHome = mount.kind !== "private" && mount.at !== home.path && isBelow(mount.at, home.path);
    if (isInHome && !home.isOwn && home.path !== "/" && !isShownFromAbove(mount.at, mounts.filter(isOfHost)))
      return `firejail empties no home that is somebody else's, and ${mount.at} is in ${home.path}: ${remedy}`;
    // Another user's is blacklisted as a whole.
    if (uid === 0 && mount.kind === "private" && isBelow(mount.at, "/sys"))
      return `firejail cannot empty /sys, and ${mount.at} is to be empty: ${remedy}`;
    for (const path of mount.kind === "private" ? [mount.at] : [mount.at, mount.source]) {
      const found = misread.exec(path)?.[0];
      const own = occupied.exec(path)?.[0];
      if (own !== undefined) return `firejail puts a directory of its own in the place of ${own}: ${remedy}`;
      if (mount.kind !== "private" && divided.includes(path))
        return `firejail keeps a part of ${path} to itself and cannot show all of it: name what is needed below it, or choose bubblewrap`;
      if (found !== undefined)
        return `firejail cannot be told of the path ${JSON.stringify(path)}, for the ${JSON.stringify(found)} in it: ${remedy}`;
    }
  }
  return null;
}

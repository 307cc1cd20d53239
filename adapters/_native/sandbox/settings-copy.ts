/**
 * The system's settings as a sandboxed command sees them: a directory of copies in the place of `/etc`. Copies, because a
 * mount of each file by itself costs a sandbox more time than all the rest of it; and of what is named here alone, because
 * root would see secrets in the whole of `/etc`.
 */

import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { isBelow, type Mount } from "./view.ts";

/**
 * What ordinary programs read, below `/etc`: of the loader, of users and names, of time and language, of shells, of
 * certificates, and of language runtimes that keep a part of themselves there.
 */
const names = (
  "ld.so.cache ld.so.conf ld.so.conf.d ld-musl-x86_64.path ld-musl-aarch64.path passwd group nsswitch.conf host.conf hosts " +
  "services protocols gai.conf login.defs shells localtime timezone locale.conf locale.alias default/locale profile " +
  "profile.d bash.bashrc bashrc bash_completion.d inputrc terminfo ssl/openssl.cnf ssl/cert.pem pki/tls/cert.pem " +
  "pki/tls/openssl.cnf ca-certificates.conf crypto-policies gnutls mime.types magic mailcap papersize fonts xml sgml " +
  "debian_version os-release lsb-release redhat-release alpine-release gitconfig perl ruby R php lua maven gradle ant " +
  "wgetrc mtab"
).split(" ");
const patterns = [/^python3(\.\d+)?$/, /^java(-\d+-openjdk)?$/, /^ImageMagick-\d$/];

/** How old a look at them may be. */
const checkMs = 1000;

/** Below `source`, whether they are there or not. */
export function settingNames(source: string): readonly string[] {
  return [...names, ...readdirSync(source).filter((name) => patterns.some((one) => one.test(name)))];
}

/** Nothing that is larger is a setting. */
const mostBytes = 2 * 1024 * 1024;

/** What a test puts in the place of the machine. */
export interface SettingsSource {
  /** @default "/etc" */
  readonly source?: string;
  /** Milliseconds. */
  readonly now?: () => number;
}

/** The copies. */
export interface SettingsCopy {
  /** A link that leads to the newest copies. */
  readonly directory: string;
  /** Makes them anew where the system's own have changed. */
  refresh(): void;
  /**
   * The same, and keeps what is there from now on, as long as a sandbox may have mounted it.
   *
   * @returns To be called when it is over.
   */
  hold(): () => void;
}

/**
 * @param home a directory of this host's own
 * @param mounts what will be mounted besides: whatever of it is below `/etc` needs a place there
 * @throws Error when they cannot be written.
 */
export function copySettings(
  home: string,
  mounts: readonly Mount[],
  { source = "/etc", now = () => performance.now() }: SettingsSource = {},
): SettingsCopy {
  const directory = join(home, "etc");
  let version = 0;
  let before: string | null = null;
  let checkedAt = Number.NEGATIVE_INFINITY;
  /** The newest at the beginning of each hold: what the link led to when it was followed is that one, or newer. */
  const held = new Map<symbol, number>();
  let oldest = 1;
  const removeOld = () => {
    const needed = Math.min(version, ...held.values());
    try {
      for (; oldest < needed; oldest += 1) rmSync(`${directory}-${oldest}`, { recursive: true, force: true });
    } catch {
      // It is tried again with the next, and in the end all of them go with the host's directory.
    }
  };
  const refresh = () => {
    // Whoever tidies temporary directories may have removed it meanwhile.
    const isThere = stampOf(directory) !== "";
    if (isThere && now() - checkedAt < checkMs) return;
    checkedAt = now();
    const found = settingNames(source);
    const stamps = found.map((name) => stampOf(join(source, name))).join("\n");
    if (isThere && stamps === before) return;
    version += 1;
    const fresh = `${directory}-${version}`;
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { recursive: true });
    for (const name of found) copy(join(source, name), join(fresh, name));
    for (const mount of mounts) if (mount.at !== "/etc" && isBelow(mount.at, "/etc")) makePlace(mount, fresh);
    symlinkSync(fresh, `${fresh}.link`);
    renameSync(`${fresh}.link`, directory);
    before = stamps;
    removeOld();
  };
  const hold = () => {
    refresh();
    const holder = Symbol("holder");
    held.set(holder, version);
    return () => {
      held.delete(holder);
      removeOld();
    };
  };
  refresh();
  return { directory, refresh, hold };
}

/** Changes when the file is written or replaced; of a directory, when an entry comes or goes. */
function stampOf(path: string): string {
  try {
    const { mtimeMs, ino, size } = statSync(path);
    return `${mtimeMs} ${ino} ${size}`;
  } catch {
    return "";
  }
}

/** What others may not read may be secret, and root's command is to see no more than theirs. */
function copy(from: string, to: string): void {
  try {
    const stats = lstatSync(from);
    if (stats.isSymbolicLink()) {
      const target = readlinkSync(from);
      mkdirSync(dirname(to), { recursive: true });
      // What leads to the system's own is seen there; what leads elsewhere is copied.
      if (/^(?:\/|(?:\.\.\/)+)(?:usr|etc|proc)\//.test(target) || !/^[/.]/.test(target)) symlinkSync(target, to);
      else if (statSync(from).isFile() && (statSync(from).mode & 0o004) !== 0) copyFileSync(from, to);
    } else if (stats.isDirectory() && (stats.mode & 0o005) === 0o005) {
      mkdirSync(to, { recursive: true });
      for (const name of readdirSync(from)) copy(join(from, name), join(to, name));
    } else if (stats.isFile() && (stats.mode & 0o004) !== 0 && stats.size <= mostBytes) {
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(from, to);
    }
  } catch {
    // What this system does not have, or takes away just now.
  }
}

function makePlace(mount: Mount, etc: string): void {
  const place = join(etc, mount.at.slice("/etc/".length));
  const isDirectory = mount.kind === "private" || (mount.kind !== "link" && statSync(mount.source).isDirectory());
  if (isDirectory) mkdirSync(place, { recursive: true });
  else if (mount.kind !== "link" && stampOf(place) === "") {
    mkdirSync(dirname(place), { recursive: true });
    rmSync(place, { force: true });
    writeFileSync(place, "");
  }
}

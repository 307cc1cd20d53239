/** The names and paths that several tables of the configuration share: variables, tools, images, directories. */

import * as v from "valibot";
import { list, named, notRedacted, text, textLike } from "./values.ts";

/** The name of an environment variable that a process can have. */
export const variableName = v.pipe(
  v.string("Give a variable's name in quotes"),
  v.check((name) => name !== "", "Give the variable a name"),
  v.check((name) => !/[=\0]/.test(name), 'Leave "=" and NUL out of a variable\'s name'),
  v.check((name) => name.isWellFormed(), "Leave half surrogate pairs out of a variable's name"),
);

/** Names of variables, one by one: patterns are refused, because they would match nothing. */
export const variableNames = list(
  v.pipe(
    variableName,
    v.check((name) => !name.includes("*"), "Name each variable: patterns are not understood"),
  ),
);

/** A table of variables. */
export const variables = named(
  variableName,
  v.pipe(
    v.string("Give a string in quotes"),
    v.check((value) => !value.includes("\0"), "Leave out the NUL byte"),
    v.check((value) => value.isWellFormed(), "Leave out half surrogate pairs"),
    notRedacted,
  ),
);

/** A tool's name, which also has to stand as the value of a Kubernetes label. */
export const toolName = textLike(
  /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/,
  "Name a tool with at most 63 letters, digits, dots, dashes and underscores, the first and last a letter or digit",
);

const imageHelp = 'Give an image such as "debian:bookworm-slim" or "registry.example/team/tool@sha256:…"';
/** The registry: what stands before the first `/` and has a dot or a port, or is localhost. The path's parts are lower case. */
const registry = /^(?:(?=[^/]*[.:]|localhost\/)(?:[A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*|\[[0-9A-Fa-f:]+\])(?::\d+)?\/)?/;
const repository = /[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*/;
const tagAndDigest = /(?::\w[\w.-]{0,127})?(?:@(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}))?$/;
const reference = new RegExp(registry.source + repository.source + tagAndDigest.source);
const mostImageName = 255;

/** An image as a registry knows it (distribution/reference), or by its own number. */
export const image = v.pipe(
  textLike(reference, imageHelp),
  v.check((name) => name.replace(/[:@][^/]*$/, "").length <= mostImageName, imageHelp),
);

/** Images by tool. */
export const toolImages = named(toolName, image);

const absolute = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/;
const home = /^~(?:[\\/]|$)/;
const climbs = /(?:^|[\\/])\.\.(?:[\\/]|$)/;

/** An absolute path of the host. */
export const absolutePath = v.pipe(
  text,
  v.check((path) => absolute.test(path), 'Give an absolute path: it begins with "/", or with a drive on Windows'),
);

/** An absolute path of the host, or one that begins with `~`, which stays as written until the host is known. */
export const homePath = v.pipe(
  text,
  v.check((path) => absolute.test(path) || home.test(path), 'Give an absolute path, or one that begins with "~/"'),
);

/** A place in a file system that is not the host's: `/` between its parts, and no `..` among them. */
export const innerPath = v.pipe(
  text,
  v.check(
    (path) => path.startsWith("/") && !climbs.test(path),
    'Give an absolute path with "/" between its parts and without ".."',
  ),
);

/** A path that stays below the directory it is read from. */
export const relativePath = v.pipe(
  text,
  v.check((path) => !absolute.test(path) && !climbs.test(path), 'Give a relative path without ".."'),
);

/** A name in a directory, or further down in it. A `/` at its end means a directory. */
export const nameBelow = v.pipe(
  relativePath,
  v.check(
    (path) => !/(?:^|\/)\.?(?:\/|$)/.test(path.replace(/\/$/, "")),
    'Give a relative path without "." and empty parts',
  ),
);

/** A directory of the host that a WASI guest sees, and the place where it sees it. */
export interface Grant {
  readonly host: string;
  readonly guest: string;
}

/**
 * Splits `HOST` or `HOST::GUEST`: without a second part the guest sees the directory at its host path.
 *
 * @example
 * ```ts
 * readGrant("/srv/data::/data"); // → { host: "/srv/data", guest: "/data" }
 * ```
 */
export function readGrant(written: string): Grant {
  const [host = written, guest = host] = written.split("::");
  return { host, guest };
}

const grant = v.pipe(
  text,
  v.check((written) => {
    const { host, guest } = readGrant(written);
    const parts = written.split("::").length;
    return (
      parts <= 2 &&
      absolute.test(host) &&
      !climbs.test(host) &&
      (parts === 1 || guest.startsWith("/")) &&
      !climbs.test(guest)
    );
  }, 'Give an absolute directory without "..", or "HOST::GUEST" to show it to the guest at another absolute path'),
);

/** Directories of the host that a WASI guest is granted. */
export const grants = list(grant);

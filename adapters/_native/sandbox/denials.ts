/** What a sandbox most likely denied to a command that failed, from the kernel's counters and from what the command said. Pure. */

import type { ExitKind, Warning } from "../../../src/types.ts";
import { coveredBy, isBelow, type Mount, type SandboxView } from "./view.ts";

/** What was seen of a run. */
export interface Evidence {
  readonly view: SandboxView;
  readonly exit: ExitKind;
  /** The last of what the command wrote to stderr. */
  readonly stderr: string;
  /** How often the command's own network had no way to send something; `null` where it could not be counted. */
  readonly unroutable: number | null;
}

/** The number of the signal by which the system call filter ends a program (SIGSYS), as a shell tells it. */
const badSystemCall = 128 + 31;

/** Whether a command went on to its end and failed: of any other it does not matter what it was denied. */
export function hasFailed(exit: ExitKind): exit is Extract<ExitKind, { kind: "exited" }> {
  return exit.kind === "exited" && exit.code !== 0;
}

/** Empty for a command that has not {@link hasFailed failed}. */
export function findDenials(evidence: Evidence): readonly Warning[] {
  const { exit } = evidence;
  if (!hasFailed(exit)) return [];
  return [networkDenial(evidence), fileDenial(evidence), callDenial(exit.code)].filter((found) => found !== null);
}

const resolverWords =
  /could not resolve|name or service not known|temporary failure in name resolution|no address associated|nodename nor servname|\benotfound\b|eai_again|no such host|dns error|failed to lookup address/i;
const unreachableWords = /network is unreachable|enetunreach/i;

/** The kernel's counters say it; of name look-ups, which end at the loopback, and where nothing was counted, the resolver's words do. */
function networkDenial({ view, stderr, unroutable }: Evidence): Warning | null {
  const isCounted = unroutable !== null && unroutable > 0;
  const isSaid = resolverWords.test(stderr) || (unroutable === null && unreachableWords.test(stderr));
  if (view.network || !(isCounted || isSaid)) return null;
  const times = !isCounted ? "" : ` ${unroutable} ${unroutable === 1 ? "time" : "times"}`;
  return {
    code: "denied_network",
    message: `The command tried${times} to reach a network, and the sandbox gives it none: clause network, security.sandbox.allow_network = true`,
  };
}

/**
 * A path that the command names in its complaint and that the sandbox hides, or keeps as it is. Whether it exists on the host
 * is not looked up: who may run commands is not to learn that.
 */
function fileDenial({ view, stderr }: Evidence): Warning | null {
  for (const line of stderr.split("\n").reverse()) {
    const isMissing = /no such file or directory|not found|does not exist|ENOENT|cannot find/i.test(line);
    const isReadonly = /read-only file ?system|EROFS/i.test(line);
    if (!isMissing && !isReadonly) continue;
    for (const path of pathsIn(line)) {
      const mount = coveredBy(path, view.mounts);
      if (isReadonly && mount?.kind !== "writable" && mount?.kind !== "private") return readonlyDenial(path);
      if (isMissing && isHidden(path, mount)) return hiddenDenial(path);
    }
    if (isReadonly) return readonlyDenial(null);
  }
  return null;
}

/** Places that every sandbox makes by itself. */
const made = ["/proc", "/dev"];

/** What is in a private place on the host is as little seen as what is shown nowhere. */
function isHidden(path: string, mount: Mount | null): boolean {
  if (mount === null) return !made.some((place) => isBelow(path, place));
  // Of temporary files nobody expects that they are there.
  return mount.kind === "private" && !isBelow(mount.at, "/tmp");
}

function hiddenDenial(path: string): Warning {
  return {
    code: "denied_filesystem",
    message: `The command missed ${path}, which the sandbox does not show: clause filesystem, security.sandbox.readonly_paths or writable_paths`,
  };
}

function readonlyDenial(path: string | null): Warning {
  return {
    code: "denied_filesystem",
    message: `The command could not write${path === null ? "" : ` ${path}`}, which the sandbox keeps as it is: clause filesystem, security.sandbox.writable_paths`,
  };
}

function callDenial(code: number): Warning | null {
  if (code !== badSystemCall) return null;
  return {
    code: "denied_privilege",
    message:
      "The command ended as one does that the sandbox's system call filter ends, a program for another architecture for instance: clause privilege",
  };
}

/** Absolute paths of more than one part, as messages write them: bare, or in any kind of quotes. */
function pathsIn(line: string): readonly string[] {
  // Many begin with the path of the program itself.
  const found = line.replace(/^\/\S+: /, "").matchAll(/(?:^|[\s'"`‘“(=:])(\/[^\s'"`’”:,;)/]+(?:\/[^\s'"`’”:,;)/]+)*)/g);
  return [...found].map(([, path = ""]) => path.replace(/\.$/, ""));
}

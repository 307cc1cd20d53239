/**
 * firejail's words for a sandbox. Pure. Options by firejail(1) of version 0.9.72, the oldest that has all of them.
 *
 * It shows the whole host unless it is told otherwise, takes few and short arguments, changes the environment, has no status
 * descriptor, and writes to the command's stderr. So a profile says what is seen (./firejail-profile.ts), a script that is run
 * inside becomes the command (./firejail-script.ts), and its complaints go to the status: all of them are open files.
 *
 * What is less than bubblewrap's: system calls (../seccomp-filter.ts); root's home can run no program where
 * something is shown in it; a home that is not the one in the list of users is made for root and below `/tmp` alone; a
 * command that kills everything it can see is told as killed itself.
 */

import { type FirejailFacts, firejailPids } from "./firejail-facts.ts";
import { launcher } from "./firejail-launcher.ts";
import { profileOf, unshowable } from "./firejail-profile.ts";
import { startedMark, startScript } from "./firejail-script.ts";
import type { SandboxedCommand, SandboxProgram, SandboxStatus, Wrapping } from "./sandbox-program.ts";
import { inputPlace, statusPlace } from "./sandbox-program.ts";
import type { SandboxView } from "./view.ts";

const profilePlace = inputPlace;
const scriptPlace = inputPlace + 1;
const directoryPlace = inputPlace + 2;
/** The command's own stderr, kept until there is a command. */
const stderrPlace = inputPlace + 3;
/** What is open for the time until there is a command. */
const inputs = [profilePlace, scriptPlace, directoryPlace];

export function firejail(file: string, facts: FirejailFacts): SandboxProgram {
  return {
    name: "firejail",
    file,
    addedEnv: [],
    pids: firejailPids(facts.uid),
    namesInit: false,
    canHold: false,
    looksAhead: true,
    complaint: null,
    cannot: (view) => unshowable(view, facts),
    wrap: (view, command) => wrap(file, facts, { view, command }),
    readStatus,
  };
}

function wrap(
  file: string,
  facts: FirejailFacts,
  { view, command }: { readonly view: SandboxView; readonly command: SandboxedCommand },
): Wrapping {
  const { tools, uid, filter } = facts;
  const profile = profileOf(view, facts);
  const places = { status: statusPlace, stderr: stderrPlace, directory: directoryPlace, closed: inputs };
  return {
    words: [
      ...launcher(facts, { status: statusPlace, stderr: stderrPlace, inputs }),
      file,
      "--quiet",
      `--profile=/proc/self/fd/${profilePlace}`,
      `--keep-fd=${[statusPlace, ...inputs, stderrPlace].join(",")}`,
      ...(view.network ? [] : ["--net=none"]),
      // Root has one of its own in any case.
      ...(uid === 0 ? [] : ["--ipc-namespace"]),
      "--private-dev",
      ...["--nosound", "--no3d", "--notv", "--nodvd", "--nou2f", "--novideo", "--noinput", "--keep-config-pulse"],
      // What it would do to homes, to the list of users and to /var by itself; the profile says what is seen.
      ...["--allusers", "--writable-var", "--writable-var-log"],
      ...(profile.keepsVarTmp ? ["--keep-var-tmp"] : []),
      ...["--caps.drop=all", "--nonewprivs", ...(filter ?? [])],
      "--deterministic-exit-code",
      // Without `--` in front it builds no line for a shell out of the words. Whoever is in firejail's own process group can
      // stop or end it by a signal to the group, which no namespace keeps: nothing that is run inside stays there.
      ...[tools.env, "-i", tools.setsid, tools.sh, `/proc/self/fd/${scriptPlace}`],
    ],
    env: {},
    inputs: [profile.text, startScript({ command, view, profile, facts, places })],
    holds: view.workingDir,
  };
}

/** The mark is the last that is written there: whoever could write more is not yet running. */
function readStatus(text: string): SandboxStatus {
  const lines = text.split("\n");
  return {
    initPid: null,
    ended: lines.includes(startedMark),
    said: lines.filter((line) => line !== startedMark).join("\n"),
  };
}

/** bubblewrap's words for a sandbox. Pure. Options by bwrap(1) of version 0.8, the oldest that has all of them. */

import { isLoaderVariable } from "./loader-variables.ts";
import type { ProgramSetting, SandboxedCommand, SandboxProgram, SandboxStatus, Wrapping } from "./sandbox-program.ts";

import { filterPlace, inputPlace, keyFiles, statusPlace } from "./sandbox-program.ts";
import type { Mount, SandboxView } from "./view.ts";

export function bubblewrap(file: string, setting: ProgramSetting): SandboxProgram {
  return {
    name: "bubblewrap",
    file,
    // The directory it changes to.
    addedEnv: ["PWD"],
    complaint: "bwrap: ",
    // The monitor and the first process inside.
    pids: 2,
    namesInit: true,
    canHold: true,
    looksAhead: false,
    cannot: () => null,
    wrap: (view, command) => wrap(file, view, command, setting),
    readStatus,
  };
}

function wrap(
  file: string,
  { mounts, network, workingDir }: SandboxView,
  { argv, env, isHeld }: SandboxedCommand,
  { filtered, strayEnv, kernelFiles }: ProgramSetting,
): Wrapping {
  const { plain, special } = splitEnv(env, strayEnv);
  return {
    words: [
      file,
      "--unshare-all",
      ...(network ? ["--share-net"] : []),
      // The monitor ends with the host, and everything inside with the monitor.
      "--die-with-parent",
      // Without a controlling terminal nothing can be typed into the operator's.
      "--new-session",
      ...["--cap-drop", "ALL"],
      ...(filtered ? ["--seccomp", `${filterPlace}`] : []),
      ...["--json-status-fd", `${statusPlace}`],
      ...(isHeld === true ? ["--block-fd", `${inputPlace}`] : []),
      ...["--proc", "/proc", "--dev", "/dev"],
      ...kernelFiles.flatMap((path) => ["--ro-bind", keyFiles.includes(path) ? "/dev/null" : path, path]),
      ...mounts.flatMap(mountWords),
      // What was made on the way to a mount is no place to write to.
      ...["--remount-ro", "/"],
      ...strayEnv.flatMap((name) => ["--unsetenv", name]),
      ...special.flatMap(([name, value]) => ["--setenv", name, value]),
      ...["--chdir", workingDir, "--"],
      ...argv,
    ],
    env: plain,
    inputs: [],
  };
}

function mountWords(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case "readonly":
      return ["--ro-bind", mount.source, mount.at];
    case "writable":
      return ["--bind", mount.source, mount.at];
    case "private":
      return isForAll(mount.at) ? ["--perms", "1777", "--tmpfs", mount.at] : ["--tmpfs", mount.at];
    case "link":
      return ["--symlink", mount.to, mount.at];
  }
}

/** As on any system: programs look whether the directory for temporary files is fit to be one. */
const isForAll = (path: string) => path === "/tmp" || path === "/var/tmp";

/** What the loader reads is set inside by arguments; any other variable travels in the environment, where no other user sees it. */
function splitEnv(env: Readonly<Record<string, string>>, strayEnv: readonly string[]) {
  const entries = Object.entries(env);
  const isSpecial = ([name]: readonly [string, string]) => isLoaderVariable(name) || strayEnv.includes(name);
  return {
    plain: Object.fromEntries(entries.filter((entry) => !isSpecial(entry))),
    special: entries.filter(isSpecial),
  };
}

/** One JSON object a line: `child-pid` before the mounts are made, `exit-code` only after the command was really run. */
function readStatus(text: string): SandboxStatus {
  const pid = /"child-pid":\s*(\d+)/.exec(text)?.[1];
  return { initPid: pid === undefined ? null : Number(pid), ended: /"exit-code":/.test(text), said: "" };
}

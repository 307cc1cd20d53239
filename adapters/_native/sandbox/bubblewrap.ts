/** bubblewrap's words for a sandbox. Pure. Options by bwrap(1) of version 0.8, the oldest that has all of them. */

import type { ProgramSetting, SandboxProgram, SandboxStatus, Wrapping } from "./sandbox-program.ts";
import { filterPlace, statusPlace } from "./sandbox-program.ts";
import type { Mount, SandboxView } from "./view.ts";

export function bubblewrap(file: string, setting: ProgramSetting): SandboxProgram {
  return {
    name: "bubblewrap",
    file,
    // The directory it changes to.
    addedEnv: ["PWD"],
    complaint: "bwrap: ",
    wrap: (view, env) => wrap(file, view, env, setting),
    readStatus,
  };
}

function wrap(
  file: string,
  { mounts, network, workingDir }: SandboxView,
  env: Readonly<Record<string, string>>,
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
      ...["--proc", "/proc", "--dev", "/dev"],
      ...kernelFiles.flatMap((path) => ["--ro-bind", path, path]),
      ...mounts.flatMap(mountWords),
      // What was made on the way to a mount is no place to write to.
      ...["--remount-ro", "/"],
      ...strayEnv.flatMap((name) => ["--unsetenv", name]),
      ...special.flatMap(([name, value]) => ["--setenv", name, value]),
      ...["--chdir", workingDir, "--"],
    ],
    env: plain,
  };
}

function mountWords(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case "readonly":
      return ["--ro-bind", mount.source, mount.at];
    case "writable":
      return ["--bind", mount.source, mount.at];
    case "private":
      return ["--tmpfs", mount.at];
    case "link":
      return ["--symlink", mount.to, mount.at];
  }
}

/**
 * Variables by which the loader or the C library of the sandbox program itself would be led, outside of the sandbox. They are
 * set inside by its arguments: they hold paths and switches, and any other variable travels in the environment, where no
 * other user sees it.
 *
 * Source: the list that glibc strips for privileged programs, sysdeps/generic/unsecvars.h; ld.so(8); musl's ld.so.
 */
const unsafe =
  /^(?:LD_.*|DYLD_.*|GLIBC_TUNABLES|GCONV_PATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|LOCPATH|MALLOC_.*|NIS_PATH|NLSPATH|RESOLV_HOST_CONF|RES_OPTIONS|TMPDIR|TZDIR|ASAN_OPTIONS|.*SAN_OPTIONS)$/;

function splitEnv(env: Readonly<Record<string, string>>, strayEnv: readonly string[]) {
  const entries = Object.entries(env);
  const isSpecial = ([name]: readonly [string, string]) => unsafe.test(name) || strayEnv.includes(name);
  return {
    plain: Object.fromEntries(entries.filter((entry) => !isSpecial(entry))),
    special: entries.filter(isSpecial),
  };
}

/** One JSON object a line: `child-pid` before the mounts are made, `exit-code` only after the command was really run. */
function readStatus(text: string): SandboxStatus {
  const pid = /"child-pid":\s*(\d+)/.exec(text)?.[1];
  return { initPid: pid === undefined ? null : Number(pid), ended: /"exit-code":/.test(text) };
}

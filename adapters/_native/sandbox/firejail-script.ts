/**
 * The command as a script that firejail's first shell runs inside. Pure.
 *
 * firejail takes 127 arguments of four kilobytes and 255 variables, and sets variables of its own; a script takes as many as
 * the kernel does, and its shell begins with none. It looks whether it is where it should be before anything else, and says
 * by a mark that it goes on to the command. The command cannot reach the mark's file: it is closed before, and whoever else has
 * it open (firejail's own process 1) is closed to inspection (ptrace(2), PR_SET_DUMPABLE).
 */

import type { FirejailFacts } from "./firejail-facts.ts";
import type { FirejailProfile } from "./firejail-profile.ts";
import { isLoaderVariable } from "./loader-variables.ts";
import type { SandboxedCommand } from "./sandbox-program.ts";
import { isShellName } from "./shell-names.ts";
import type { SandboxView } from "./view.ts";

/** The line that says that the command is run. */
export const startedMark = "prx-runtime: started";

export interface ScriptParts {
  readonly command: SandboxedCommand;
  readonly view: SandboxView;
  readonly profile: FirejailProfile;
  readonly facts: FirejailFacts;
  /** Descriptors. */
  readonly places: {
    readonly status: number;
    readonly stderr: number;
    /** The working directory, as it was before anything was mounted. */
    readonly directory: number;
    readonly closed: readonly number[];
  };
}

/** Up to here every kernel takes arguments and environment: `ARG_MAX` of linux/limits.h, and never less. */
const certainBytes = 100_000;

export function startScript({ command, view, profile, facts, places }: ScriptParts): string {
  const { tools, witness } = facts;
  const { exported, passed } = splitEnv(command.env);
  const words = [...passed, ...runnable(command.argv, tools.nice)];
  const isLarge = words.join("").length + Object.entries(command.env).join("").length > certainBytes / 4;
  const { status, stderr, directory, closed } = places;
  return [
    // Read as a whole before it begins: the command could write to what is left of it.
    "{",
    `exec 2>&${status}`,
    `fail() { echo "$*" >&${status}; exit 1; }`,
    // firejail in a container runs the command without a sandbox, and warns (no_sandbox.c).
    `[ ! -e ${quoted(witness)} ] || fail 'It made no sandbox: it takes this for one already'`,
    ...(profile.remove.length === 0 ? [] : [`${tools.rm} -f ${profile.remove.map(quoted).join(" ")}`]),
    ...(profile.make.length === 0 ? [] : [`${tools.mkdir} -p ${profile.make.map(quoted).join(" ")}`]),
    ...profile.empty.flatMap(beingEmpty),
    ...profile.shown.flatMap((mount) => seeing(mount, tools)),
    `cd ${quoted(view.workingDir)} || fail 'The working directory is not seen'`,
    // What firejail finds by its name, a command that may write the directory above can have exchanged meanwhile.
    `[ . -ef /proc/self/fd/${directory} ] || fail 'Something else was mounted in the place of the working directory'`,
    ...(command.needs ?? []).flatMap((path) => executing(path, command.needs?.[0] ?? path)),
    ...exported.map(([name, value]) => `export ${name}=${quoted(value)}`),
    `set -- ${words.map(quoted).join(" ")}`,
    ...(isLarge ? [`${tools.true} "$@" || fail 'Argument list too long'`] : []),
    // The shell stays, and is not ended by what ends the command.
    "trap : HUP INT QUIT TERM USR1 USR2 ALRM PIPE",
    `echo ${quoted(startedMark)} >&${status}`,
    // It tells of children that a signal ended: of a subshell, whose stderr is not the command's.
    `exec 2>/dev/null ${[status, ...closed].map((place) => `${place}>&-`).join(" ")}`,
    // A group and a session of its own, as outside. Behind `--` no variable's name is an option.
    `( exec ${tools.setsid} ${tools.env} -u PWD -u OLDPWD -u SHLVL -u _ -- "$@" 2>&${stderr} ${stderr}>&- )`,
    "code=$?",
    // What the command left behind ends with it.
    "kill -s KILL -- -1",
    'exit "$code"',
    "}",
    "",
  ].join("\n");
}

/** A directory that cannot be listed may hold anything; one that could not be made holds nothing. */
function beingEmpty({ path, but }: FirejailProfile["empty"][number]): readonly string[] {
  const place = quoted(path);
  const failure = `fail ${quoted(`It does not empty ${path}`)}`;
  const known = but.length === 0 ? "" : `${but.map((name) => quoted(`${path}/${name}`)).join("|")}) ;; `;
  return [
    `[ ! -e ${place} ] || { [ -d ${place} ] && [ -r ${place} ]; } || ${failure}`,
    `for e in ${place}/* ${place}/.[!.]* ${place}/..?*; do case "$e" in ${known}*) { [ ! -e "$e" ] && [ ! -L "$e" ]; } || ${failure};; esac; done`,
  ];
}

/** What is somewhere else on the host is reached by a link, where there is none already. */
function seeing(
  { at, source }: FirejailProfile["shown"][number],
  { mkdir, ln }: FirejailFacts["tools"],
): readonly string[] {
  const isSeen = `[ -e ${quoted(at)} ]`;
  const directory = quoted(at.slice(0, at.lastIndexOf("/")) || "/");
  const link = at === source ? "" : ` || { ${mkdir} -p ${directory} && ${ln} -s ${quoted(source)} ${quoted(at)}; }`;
  return [`${isSeen}${link} || fail ${quoted(`It does not show ${at}`)}`];
}

/** In the words of execvp(3): the kernel's own answer comes when the command counts as begun, and looks like the command's. */
function executing(path: string, program: string): readonly string[] {
  const failure = (why: string) => `fail ${quoted(`execvp ${program}: ${why}`)}`;
  return [
    `[ -e ${quoted(path)} ] || ${failure("No such file or directory")}`,
    `[ -x ${quoted(path)} ] || ${failure("Permission denied")}`,
  ];
}

/** A program with `=` in its path would be taken for a variable. */
function runnable(argv: SandboxedCommand["argv"], nice: string): readonly string[] {
  return argv[0].includes("=") ? [nice, "-n", "0", ...argv] : argv;
}

/** Arguments are seen by other users for the moment in which env(1) becomes the command; what a shell exports is not. */
function splitEnv(env: SandboxedCommand["env"]) {
  const entries = Object.entries(env);
  const isPlain = (name: string) => /^[A-Za-z_]\w*$/.test(name) && !isShellName(name) && !isLoaderVariable(name);
  return {
    exported: entries.filter(([name]) => isPlain(name)),
    passed: entries.filter(([name]) => !isPlain(name)).map(([name, value]) => `${name}=${value}`),
  };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

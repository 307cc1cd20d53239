/**
 * What stands around firejail on the host: it ends firejail with the host, and begins again what another's mount broke. Pure.
 *
 * firejail makes sure of each of its mounts by the last line of /proc/self/mountinfo (`get_last_mount` of mountinfo.c), where
 * a mount that somebody else makes on the host in that moment comes in as well (`MS_SLAVE` of sandbox.c); then it gives up.
 */

import type { FirejailFacts } from "./firejail-facts.ts";
import { startedMark } from "./firejail-script.ts";

export interface LauncherPlaces {
  readonly status: number;
  /** The command's own stderr, kept until there is a command. */
  readonly stderr: number;
  /** Descriptors that only firejail is to have. */
  readonly inputs: readonly number[];
}

/** Each failure takes firejail two seconds. */
const mostAttempts = 5;

/** Words that go before firejail's. */
export function launcher(facts: FirejailFacts, places: LauncherPlaces): readonly [string, ...string[]] {
  return facts.uid === 0 ? rootLauncher(facts, places) : userLauncher(facts, places);
}

/** The kernel ends it with the host, and keeps the host's mounts out of it. */
function rootLauncher({ tools }: FirejailFacts, { status, stderr }: LauncherPlaces): readonly [string, ...string[]] {
  const become = `exec "$@" ${stderr}>&2 2>&${status}`;
  const alone = [tools.unshare, "--mount", "--propagation", "private"];
  return [tools.setpriv, "--pdeathsig", "KILL", tools.sh, "-c", become, "sh", ...alone];
}

/**
 * The execution of a program that is setuid clears the wish to end with the host (prctl(2), PR_SET_PDEATHSIG), so a second
 * process waits for the host's end, and then ends its whole group, firejail and the first process inside among them: nothing
 * that is run inside is in that group.
 */
function userLauncher({ tools, hostPid }: FirejailFacts, places: LauncherPlaces): readonly [string, ...string[]] {
  const { status, stderr, inputs } = places;
  const withParent = `${tools.setpriv} --pdeathsig KILL`;
  const wait = `${withParent} ${tools.tail} --pid=${hostPid} -f /dev/null && kill -s KILL 0`;
  const closed = [status, ...inputs].map((place) => `${place}>&-`).join(" ");
  const script = [
    `${withParent} ${tools.sh} -c '${wait}' </dev/null >/dev/null 2>&1 ${closed} &`,
    `exec ${stderr}>&2 2>&${status}`,
    // What was begun is never begun again: its mark is the last line that is written there.
    "told() {",
    "begun=no; broken=0",
    'while read -r line; do case "$line" in',
    `"${startedMark}") begun=yes ;;`,
    '"Access error: "*", last mount name:"*" - invalid "*" mount") broken=$((broken + 1)) ;;',
    "esac; done",
    `} < /proc/self/fd/${status}`,
    "attempt=0",
    "while",
    '"$@"; code=$?; attempt=$((attempt + 1)); told',
    // Who was killed before has no command to tell of.
    '[ "$begun" = yes ] || [ "$code" -le 128 ] || kill -s KILL $$',
    `[ "$begun" = no ] && [ "$broken" -eq "$attempt" ] && [ "$attempt" -lt ${mostAttempts} ]`,
    "do :; done",
    'exit "$code"',
  ];
  return [tools.sh, "-c", script.join("\n"), "sh"];
}

/** Fixtures that end in some way, or do not want to: codes, signals, traps, children left behind. */

import { argument, count, type Fixture, forever, sleeper } from "./fixture.ts";

export const endingFixtures = [
  {
    name: "exit-with",
    script: `exit "$1"`,
    twin: async (process) => count(process, 1),
  },
  {
    // For $1 seconds.
    name: "sleep",
    script: `exec sleep "$1"`,
    twin: (process) => process.sleep(count(process, 1) * 1000),
  },
  {
    // Sends itself the signal $1, as `KILL`.
    name: "signal-self",
    script: `kill -s "$1" $$; sleep 10`,
    twin: async (process) => process.killSelf(`SIG${argument(process, 1)}`),
  },
  {
    // Says "ready", then ignores everything that can be ignored; its child does too.
    name: "ignore-term",
    script: `trap '' TERM INT HUP; echo ready; while :; do sleep 1; done`,
    twin: async ({ trap, stdout, sleep }) => {
      trap();
      await stdout.write("ready\n");
      await sleep(forever);
    },
  },
  {
    // Says "ready"; on TERM it says "bye" and exits 3.
    name: "trap-term",
    script: `trap 'echo bye; exit 3' TERM; echo ready; sleep 300 & wait $!`,
    twin: async ({ trap, stdout, signal, sleep }) => {
      trap();
      await stdout.write("ready\n");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await sleep(1);
      await stdout.write("bye\n");
      return 3;
    },
  },
  {
    // One child in the background, one in the foreground, and "ready" before.
    name: "two-sleepers",
    script: `sleep 300 & echo ready; sleep 300; exit 0`,
    twin: async ({ spawn, stdout, sleep }) => {
      spawn(sleeper, ["sleep", "300"]);
      await stdout.write("ready\n");
      await sleep(forever);
    },
  },
  {
    // Says "ready" and ends with its stdin; its child in the background stays.
    name: "reader-with-child",
    script: `sleep 300 >/dev/null 2>&1 & echo ready; read -r line; exit 0`,
    twin: async ({ spawn, stdout, stdin }) => {
      spawn(sleeper, ["sleep", "300"]);
      await stdout.write("ready\n");
      await stdin.getReader().read();
    },
  },
  {
    // Exits 0 at once; a child stays that holds both outputs open.
    name: "background-child",
    script: `sleep 300 & echo started`,
    twin: async ({ spawn, stdout }) => {
      spawn(sleeper, ["sleep", "300"]);
      await stdout.write("started\n");
    },
  },
  {
    // Exits 0 after a daemon has left its session and its parent. "ready" comes once it has.
    name: "daemon",
    script: `setsid sh -c '(sleep 300 >/dev/null 2>&1 </dev/null & echo ready)'`,
    twin: async ({ spawn, stdout }) => {
      spawn(sleeper, ["sleep", "300"]);
      await stdout.write("ready\n");
    },
  },
  {
    // The same daemon, and a command that goes on.
    name: "daemon-and-sleep",
    script: `setsid sh -c '(sleep 300 >/dev/null 2>&1 </dev/null & echo ready)'; sleep 300; exit 0`,
    twin: async ({ spawn, stdout, sleep }) => {
      spawn(sleeper, ["sleep", "300"]);
      await stdout.write("ready\n");
      await sleep(forever);
    },
  },
  {
    // $1 children at once, then "ready".
    name: "many-children",
    script: `i=0; while [ "$i" -lt "$1" ]; do sleep 300 & i=$((i + 1)); done; echo ready; wait`,
    twin: async (process) => {
      for (let index = 0; index < count(process, 1); index += 1) process.spawn(sleeper, ["sleep", "300"]);
      await process.stdout.write("ready\n");
      await process.sleep(forever);
    },
  },
  {
    // Its own id and code, after a while: $1, $2 and $3 seconds.
    name: "named",
    script: `echo "$1"; sleep "$3"; exit "$2"`,
    twin: async (process) => {
      await process.stdout.write(`${argument(process, 1)}\n`);
      await process.sleep(count(process, 3) * 1000);
      return count(process, 2);
    },
  },
  {
    // Takes at least $1 bytes of memory itself, and exits 0 if it may.
    name: "eat-memory",
    script: `text=$(head -c "$1" /dev/zero | tr '\\000' x); exit 0`,
    twin: async (process) => process.allocate(count(process, 1)),
  },
] as const satisfies readonly Fixture[];

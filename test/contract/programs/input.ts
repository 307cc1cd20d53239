/** Fixtures that read: stdin in several ways, the environment, the working directory and its files. */

import { argument, type Fixture, forever } from "./fixture.ts";

export const inputFixtures = [
  {
    name: "cat",
    script: `exec cat`,
    twin: async ({ stdin, stdout }) => {
      for await (const chunk of stdin) await stdout.write(chunk);
    },
  },
  {
    // "rc=1" at an end of file, "rc=0" after a line.
    name: "read-line",
    script: `read -r line; echo "rc=$?"`,
    twin: async ({ stdin, stdout }) => {
      const { done } = await stdin.getReader().read();
      await stdout.write(`rc=${done ? 1 : 0}\n`);
    },
  },
  {
    // "got LINE" for each line, until the end of stdin; then "end".
    name: "conversation",
    script: `while IFS= read -r line; do printf 'got %s\\n' "$line"; done; echo end`,
    twin: async ({ stdin, stdout }) => {
      const decoder = new TextDecoder();
      let rest = "";
      for await (const chunk of stdin) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) await stdout.write(`got ${line}\n`);
      }
      await stdout.write("end\n");
    },
  },
  {
    // 64 KiB of stdin, then a byte to stdout, until the end.
    name: "slow-cat",
    script: `while [ "$(head -c 65536 | wc -c)" -gt 0 ]; do printf .; sleep 0.02; done`,
    twin: async ({ stdin, stdout, sleep }) => {
      for await (const _ of stdin) {
        await stdout.write(".");
        await sleep(20);
      }
    },
  },
  {
    // Says "closed" once it has closed stdin, and goes on.
    name: "close-stdin",
    script: `exec <&-; echo closed; exec sleep 300`,
    twin: async ({ stdin, stdout, sleep }) => {
      await stdin.cancel();
      await stdout.write("closed\n");
      await sleep(forever);
    },
  },
  {
    // The environment as the kernel was given it: NAME=VALUE and a NUL byte each.
    name: "print-env",
    script: `if [ -r "/proc/$$/environ" ]; then cat "/proc/$$/environ"; else env | tr '\\n' '\\000'; fi`,
    twin: async ({ env, stdout }) => {
      for (const [name, value] of Object.entries(env)) await stdout.write(`${name}=${value}\0`);
    },
  },
  {
    name: "pwd",
    script: `pwd -P`,
    twin: ({ workingDir, files, stdout }) => stdout.write(`${files.inspect(workingDir).realPath}\n`),
  },
  {
    // The content $2 to the file $1.
    name: "write-file",
    script: `printf %s "$2" > "$1"`,
    twin: async (process) => process.files.write(process.resolve(argument(process, 1)), argument(process, 2)),
  },
  {
    name: "read-file",
    script: `exec cat "$1"`,
    twin: (process) => process.stdout.write(process.files.read(process.resolve(argument(process, 1)))),
  },
  {
    // Whether the file $1 may be executed: exit 0 or 1.
    name: "is-executable",
    script: `test -x "$1"`,
    twin: async (process) => (process.files.inspect(process.resolve(argument(process, 1))).executable ? 0 : 1),
  },
  {
    // A symbolic link $2 to $1.
    name: "link",
    script: `ln -s "$1" "$2"`,
    twin: async (process) => process.files.link(process.resolve(argument(process, 2)), argument(process, 1)),
  },
  {
    name: "make-directory",
    script: `mkdir "$1"`,
    twin: async (process) => process.files.makeDirectory(process.resolve(argument(process, 1))),
  },
  {
    // A byte to the file $1 every 20 ms.
    name: "heartbeat",
    script: `while :; do printf . >> "$1"; sleep 0.02; done`,
    twin: async (process) => {
      for (;;) {
        process.files.append(process.resolve(argument(process, 1)), ".");
        await process.sleep(20);
      }
    },
  },
] as const satisfies readonly Fixture[];

/** Fixtures that write: arguments, bytes, floods, both streams at once. */

import { argument, count, type Fixture } from "./fixture.ts";

/** Nothing is spawned for a chunk: shells have `printf` built in. */
const makeChunk = `chunk=$(printf '%065536d' 0)`;
const chunkBytes = 65_536;
const zeros = "0".repeat(chunkBytes);

export const outputFixtures = [
  {
    // Every argument and a NUL byte after it.
    name: "print-args",
    script: `for argument do printf '%s\\000' "$argument"; done`,
    twin: async ({ argv, stdout }) => {
      for (const text of argv.slice(1)) await stdout.write(`${text}\0`);
    },
  },
  {
    // "out" to one stream, "err" to the other.
    name: "print-both",
    script: `printf out; printf err >&2`,
    twin: async ({ stdout, stderr }) => {
      await stdout.write("out");
      await stderr.write("err");
    },
  },
  {
    // Exactly $1 bytes to stdout.
    name: "flood",
    script: `head -c "$1" /dev/zero`,
    twin: async (process) => {
      for (let left = count(process, 1); left > 0; left -= chunkBytes) {
        await process.stdout.write(new Uint8Array(Math.min(left, chunkBytes)));
      }
    },
  },
  {
    // Exactly $1 bytes to stderr.
    name: "flood-stderr",
    script: `head -c "$1" /dev/zero >&2`,
    twin: async (process) => {
      for (let left = count(process, 1); left > 0; left -= chunkBytes) {
        await process.stderr.write(new Uint8Array(Math.min(left, chunkBytes)));
      }
    },
  },
  {
    // $1 times 64 KiB to each stream, in turns.
    name: "interleave",
    script: `${makeChunk}; i=0; while [ "$i" -lt "$1" ]; do printf %s "$chunk"; printf %s "$chunk" >&2; i=$((i + 1)); done`,
    twin: async (process) => {
      for (let index = 0; index < count(process, 1); index += 1) {
        await process.stdout.write(zeros);
        await process.stderr.write(zeros);
      }
    },
  },
  {
    // Lines without end, as yes(1).
    name: "endless",
    script: `exec yes "$1"`,
    twin: async (process) => {
      const lines = `${argument(process, 1)}\n`.repeat(1000);
      for (;;) await process.stdout.write(lines);
    },
  },
  {
    // 64 KiB to stdout again and again; one byte to the file $1 after each.
    name: "metered-flood",
    script: `${makeChunk}; while printf %s "$chunk"; do printf . >> "$1"; done`,
    twin: async (process) => {
      for (;;) {
        await process.stdout.write(zeros);
        process.files.append(process.resolve(argument(process, 1)), ".");
      }
    },
  },
  {
    // Four bytes that are not UTF-8.
    name: "binary",
    script: `printf '\\377\\376\\000A'`,
    twin: ({ stdout }) => stdout.write(Uint8Array.of(0xff, 0xfe, 0x00, 0x41)),
  },
  {
    // The character U+4E2D (three bytes) $1 times to stdout and $2 times to stderr.
    name: "characters",
    script: `repeat() { i=0; while [ "$i" -lt "$1" ]; do printf '\\344\\270\\255'; i=$((i + 1)); done; }; repeat "$1"; repeat "$2" >&2`,
    twin: async (process) => {
      await process.stdout.write("中".repeat(count(process, 1)));
      await process.stderr.write("中".repeat(count(process, 2)));
    },
  },
  {
    // A character and two thirds of one more: the end of the stream cuts it.
    name: "partial-utf8",
    script: `printf '\\344\\270\\255\\344\\270'`,
    twin: ({ stdout }) => stdout.write(Uint8Array.of(0xe4, 0xb8, 0xad, 0xe4, 0xb8)),
  },
  {
    // A character in two writes, its second part after a line of stdin, so that no reader gets it in one chunk.
    name: "split-character",
    script: `printf '\\344\\270'; read -r line; printf '\\255'`,
    twin: async ({ stdin, stdout }) => {
      await stdout.write(Uint8Array.of(0xe4, 0xb8));
      await stdin.getReader().read();
      await stdout.write(Uint8Array.of(0xad));
    },
  },
  {
    // A last line that does not end.
    name: "no-newline",
    script: `printf 'first\\nlast'`,
    twin: ({ stdout }) => stdout.write("first\nlast"),
  },
] as const satisfies readonly Fixture[];

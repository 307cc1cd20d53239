/** Bytes out: exact, counted, capped in bytes, never cut inside a character. */

import { check, equal, exited, warningCodes } from "../check.ts";
import { type ContractCase, needsStderr } from "../target.ts";

const cap8MiB = { runtime: { max_output_bytes: 8 * 1024 * 1024 } };

export const outputCases: readonly ContractCase[] = [
  {
    id: "output-binary",
    title: "bytes that are no UTF-8 are kept as they are; the text has U+FFFD in their place",
    async run({ execute }) {
      const output = await execute("binary");
      exited(output, 0);
      equal(output.stdoutBytes, Uint8Array.of(0xff, 0xfe, 0x00, 0x41), "stdoutBytes");
      equal(output.stdout, "\ufffd\ufffd\0A", "stdout");
      equal(output.stdoutTotalBytes, 4, "stdoutTotalBytes");
      equal(JSON.parse(JSON.stringify(output.stdout)), output.stdout, "stdout through JSON");
    },
  },
  {
    id: "output-partial-character",
    title: "a character that the command itself left unfinished becomes U+FFFD; its bytes stay",
    async run({ execute }) {
      const output = await execute("partial-utf8");
      equal(output.stdoutBytes.length, 5, "bytes");
      equal(output.stdout, "中\ufffd", "stdout");
    },
  },
  {
    id: "output-no-newline",
    title: "a last line without an end comes whole",
    async run({ execute }) {
      equal((await execute("no-newline")).stdout, "first\nlast", "stdout");
    },
  },
  {
    id: "output-lengths",
    title: "lengths around the sizes of pipes and buffers are exact",
    async run({ runtime, executeOn }) {
      const shared = await runtime(cap8MiB);
      for (const length of [0, 1, 4096, 65_535, 65_536, 65_537, 262_144, 262_145, 1_000_003]) {
        const output = await executeOn(shared, "flood", [String(length)]);
        exited(output, 0);
        equal([output.stdoutBytes.length, output.stdoutTotalBytes], [length, length], `bytes of ${length}`);
        check(!output.stdoutTruncated, `${length} bytes are said to be cut`);
      }
    },
  },
  {
    id: "output-interleaved",
    title: "3 MiB to each stream in turns: no deadlock and no byte lost",
    needs: needsStderr,
    async run({ runtime, executeOn }) {
      const output = await executeOn(await runtime(cap8MiB), "interleave", ["48"]);
      exited(output, 0);
      equal([output.stdoutTotalBytes, output.stderrTotalBytes], [3_145_728, 3_145_728], "totals");
      equal([output.stdoutBytes.length, output.stderrBytes.length], [3_145_728, 3_145_728], "bytes");
    },
  },
  {
    id: "output-stderr-only",
    title: "a stream that is full does not wait for the other one",
    needs: needsStderr,
    async run({ runtime, executeOn }) {
      const output = await executeOn(await runtime(cap8MiB), "flood-stderr", ["1000000"]);
      exited(output, 0);
      equal([output.stdoutTotalBytes, output.stderrTotalBytes], [0, 1_000_000], "totals");
    },
  },
  {
    id: "output-cap",
    title: "beyond the cap bytes are counted and flagged, and the command goes on to its own end",
    async run({ execute }) {
      const output = await execute("flood", ["3000000"], { maxOutputBytes: 1000 });
      exited(output, 0);
      equal(output.stdoutBytes.length, 1000, "kept");
      equal(output.stdoutTotalBytes, 3_000_000, "total");
      check(output.stdoutTruncated && !output.stderrTruncated, "The wrong streams are said to be cut");
    },
  },
  {
    id: "output-cap-exact",
    title: "an output that fills the cap exactly is not said to be cut; a cap of 0 keeps nothing and counts all",
    async run({ execute }) {
      const output = await execute("flood", ["5000"], { maxOutputBytes: 5000 });
      equal([output.stdoutBytes.length, output.stdoutTruncated], [5000, false], "kept and truncated");
      const nothing = await execute("flood", ["5000"], { maxOutputBytes: 0 });
      equal([nothing.stdout, nothing.stdoutTotalBytes, nothing.stdoutTruncated], ["", 5000, true], "kept of nothing");
    },
  },
  {
    id: "output-cap-bytes",
    title: "the cap counts bytes of each stream, and the text is never cut inside a character",
    needs: needsStderr,
    async run({ execute }) {
      const output = await execute("characters", ["450", "450"], { maxOutputBytes: 1000 });
      exited(output, 0);
      equal([output.stdoutTotalBytes, output.stderrTotalBytes], [1350, 1350], "totals");
      equal([output.stdoutBytes.length, output.stderrBytes.length], [1000, 1000], "kept");
      equal([output.stdoutTruncated, output.stderrTruncated], [true, true], "truncated");
      equal([output.stdout, output.stderr], ["中".repeat(333), "中".repeat(333)], "texts");
    },
  },
  {
    id: "output-cap-narrowed",
    title: "a request can lower the operator's cap and not raise it; the result says so",
    async run({ runtime, executeOn }) {
      const shared = await runtime({ runtime: { max_output_bytes: 2000 } });
      const wide = await executeOn(shared, "flood", ["5000"], { maxOutputBytes: 4000 });
      equal(wide.stdoutBytes.length, 2000, "kept where more was asked");
      check(warningCodes(wide).includes("narrowed"), "No warning says that the cap was narrowed");
      const narrow = await executeOn(shared, "flood", ["5000"], { maxOutputBytes: 10 });
      equal(narrow.stdoutBytes.length, 10, "kept where less was asked");
      check(!warningCodes(narrow).includes("narrowed"), "A cap below the operator's is said to be narrowed");
    },
  },
  {
    id: "output-endless",
    title: "output without end: the memory stays near the cap, the time limit ends it, what was kept is given",
    async run({ execute }) {
      const output = await execute("endless", ["line"], { timeoutMs: 700, maxOutputBytes: 1_048_576 });
      equal(output.outcome, "timed_out", "outcome");
      equal([output.stdoutBytes.length, output.stdoutTruncated], [1_048_576, true], "kept and truncated");
      check(output.stdoutTotalBytes > 1_048_576, "The total does not count what was dropped");
      check(output.stdout.startsWith("line\nline\n"), "The kept bytes are not the first ones");
    },
  },
];

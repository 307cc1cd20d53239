/** Bytes in: an end of file where nothing is given, exact bytes where something is, and no harm where nobody reads. */

import { between, check, equal, exited, includes, ownWarningCodes, warningCodes } from "../check.ts";
import { type ContractCase, needsStdin } from "../target.ts";

/** A stream of chunks that tells how often it was asked and whether it was let go. */
function source(chunks: (index: number) => Uint8Array | null | Promise<Uint8Array | null>) {
  const seen = { pulls: 0, cancelled: false };
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await chunks(seen.pulls);
        seen.pulls += 1;
        if (chunk === null) controller.close();
        else controller.enqueue(chunk);
      },
      cancel() {
        seen.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, seen };
}

const fiveMB = new Uint8Array(5_000_000).map((_, index) => (index * 31) & 0xff);

export const inputCases: readonly ContractCase[] = [
  {
    id: "stdin-none",
    title: "without stdin a command reads an end of file at once",
    async run({ execute, scale, target }) {
      const cat = await execute("cat", [], { timeoutMs: 20_000 });
      exited(cat, 0);
      equal(cat.stdout, "", "stdout");
      between(cat.durationMs, [0, 1000 + scale.slackMs], "durationMs");
      equal((await execute("read-line")).stdout, "rc=1\n", "read-line");
      if (!target.capabilities.stdin) return;
      equal((await execute("read-line", [], { stdin: "" })).stdout, "rc=1\n", "read-line of nothing");
    },
  },
  {
    id: "stdin-exact",
    title: "text, bytes and streams arrive byte for byte",
    needs: needsStdin,
    async run({ execute }) {
      equal((await execute("cat", [], { stdin: "grüße\n\0end" })).stdout, "grüße\n\0end", "text");
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      equal((await execute("cat", [], { stdin: bytes })).stdoutBytes, bytes, "bytes");
      const { stream } = source((index) => (index < 256 ? bytes.subarray(index, index + 1) : null));
      equal((await execute("cat", [], { stdin: stream })).stdoutBytes, bytes, "stream");
      const empty = source(() => null);
      equal((await execute("read-line", [], { stdin: empty.stream })).stdout, "rc=1\n", "empty stream");
    },
  },
  {
    id: "stdin-large",
    title: "5 MB go in and come out at the same time",
    needs: needsStdin,
    async run({ runtime, executeOn }) {
      const shared = await runtime({ runtime: { max_output_bytes: 8_000_000 } });
      const output = await executeOn(shared, "cat", [], { stdin: fiveMB });
      exited(output, 0);
      equal(output.stdoutBytes, fiveMB, "stdout");
      const { stream } = source((index) =>
        index < 50 ? fiveMB.subarray(index * 100_000, (index + 1) * 100_000) : null,
      );
      equal((await executeOn(shared, "cat", [], { stdin: stream })).stdoutBytes, fiveMB, "stdout of a stream");
    },
  },
  {
    id: "stdin-unread",
    title: "5 MB into commands that do not read, many at once: their codes come back and nothing else happens",
    needs: needsStdin,
    async run({ runtime, executeOn, scale }) {
      const shared = await runtime();
      const codes = Array.from({ length: scale.parallel }, (_, index) => (index % 2 === 0 ? 0 : 7));
      const outputs = await Promise.all(
        codes.map((code, index) => {
          const stdin = index % 3 === 0 ? source(() => fiveMB.subarray(0, 100_000)).stream : fiveMB;
          return executeOn(shared, "exit-with", [String(code)], { stdin });
        }),
      );
      for (const [index, output] of outputs.entries()) {
        exited(output, codes[index] ?? -1);
        equal(ownWarningCodes(output), [], "warnings");
      }
    },
  },
  {
    id: "stdin-pulled",
    title: "a stream is pulled no faster than the command reads, and let go at its end",
    needs: needsStdin,
    async run({ execute }) {
      const { stream, seen } = source(() => new Uint8Array(65_536));
      const output = await execute("sleep", ["0.5"], { stdin: stream });
      exited(output, 0);
      // 64 KiB each: what pipes and buffers on the way hold, and no more.
      between(seen.pulls, [1, 64], "pulls of a stream that nobody reads");
      await new Promise((resolve) => setTimeout(resolve, 0));
      check(seen.cancelled, "The stream was not let go");
    },
  },
  {
    id: "stdin-closed",
    title: "a command that closes its stdin goes on",
    needs: needsStdin,
    async run({ runtime, streamOn, survivors }) {
      const { stream, seen } = source(() => new Uint8Array(65_536));
      for await (const event of streamOn(await runtime(), "close-stdin", [], { stdin: stream })) {
        if (event.type === "stdout") break;
      }
      check(seen.cancelled, "The stream was not let go");
      equal(await survivors(), 0, "processes left");
    },
  },
  {
    id: "stdin-broken",
    title: "a stream that breaks off does not pass for the whole of it",
    needs: needsStdin,
    async run({ execute }) {
      const { stream } = source((index) => {
        if (index === 0) return new TextEncoder().encode("half\n");
        throw new Error("The disk is gone");
      });
      const output = await execute("cat", [], { stdin: stream });
      equal(output.outcome, "cancelled", "outcome");
      check(warningCodes(output).includes("stdin_failed"), "No warning says that stdin broke off");
      includes(JSON.stringify(output.warnings), "The disk is gone", "warnings");
    },
  },
  {
    id: "stdin-conversation",
    title: "a long-running command answers line by line over an open stdin",
    needs: needsStdin,
    async run({ runtime, streamOn }) {
      const input = new TransformStream<Uint8Array, Uint8Array>();
      const writer = input.writable.getWriter();
      const say = (line: string) => writer.write(new TextEncoder().encode(`${line}\n`));
      const decoder = new TextDecoder();
      let heard = "";
      let round = 0;
      for await (const event of streamOn(await runtime(), "conversation", [], {
        stdin: input.readable,
        timeoutMs: 0,
      })) {
        if (event.type === "started") await say("line 0");
        if (event.type === "stdout") heard += decoder.decode(event.data, { stream: true });
        if (event.type === "finished") exited(event.output, 0);
        if (event.type !== "stdout" || !heard.endsWith(`got line ${round}\n`)) continue;
        round += 1;
        if (round < 20) await say(`line ${round}`);
        else await writer.close();
      }
      equal(heard, `${Array.from({ length: 20 }, (_, index) => `got line ${index}\n`).join("")}end\n`, "conversation");
    },
  },
];

/** `stream`: all events in order, one end, and the reader's pace. */

import type { ExecutionEvent } from "../../../src/runtime-types.ts";
import { between, check, equal, exited, rejects } from "../check.ts";
import {
  all,
  type ContractCase,
  needsDirectory,
  needsPrograms,
  needsStderr,
  needsStdin,
  needsSurvivors,
} from "../target.ts";

async function collect(events: AsyncIterable<ExecutionEvent>): Promise<ExecutionEvent[]> {
  const collected: ExecutionEvent[] = [];
  for await (const event of events) collected.push(event);
  return collected;
}

/** Goes on from a message instead of a timer: an event loop that was held up there looks at its timers before its files. */
function leaveTimers(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

function bytesOf(events: readonly ExecutionEvent[], type: "stdout" | "stderr"): number {
  return events.reduce((sum, event) => sum + (event.type === type ? event.data.length : 0), 0);
}

export const streamingCases: readonly ContractCase[] = [
  {
    id: "stream-order",
    title: "progress, then started, then output, then finished: once, and last",
    needs: needsStderr,
    async run({ runtime, streamOn }) {
      const shared = await runtime();
      const events = await collect(streamOn(shared, "print-both"));
      const types = events.map(({ type }) => type);
      equal(types.filter((type) => type !== "progress").slice(0, 1), ["started"], "first event but progress");
      equal(types.lastIndexOf("progress") < types.indexOf("started"), true, "progress before started");
      equal([types.at(-1), types.filter((type) => type === "finished").length], ["finished", 1], "end");
      equal([bytesOf(events, "stdout"), bytesOf(events, "stderr")], [3, 3], "bytes");
      const started = events.find((event) => event.type === "started");
      const finished = events.at(-1);
      check(finished?.type === "finished" && started?.type === "started", "Events are missing");
      equal([finished.output.id, finished.output.backend], [started.id, started.backend], "id and backend");
      exited(finished.output, 0);
    },
  },
  {
    id: "stream-all",
    title: "everything is handed on, whatever the cap, and nothing is kept",
    needs: needsStderr,
    async run({ runtime, streamOn }) {
      const events = await collect(streamOn(await runtime(), "interleave", ["32"], { maxOutputBytes: 10 }));
      equal([bytesOf(events, "stdout"), bytesOf(events, "stderr")], [2_097_152, 2_097_152], "bytes");
      const last = events.at(-1);
      check(last?.type === "finished", "There is no end");
      const { stdout, stdoutBytes, stdoutTruncated, stdoutTotalBytes, stderrTotalBytes } = last.output;
      equal([stdout, stdoutBytes.length, stdoutTruncated], ["", 0, false], "kept");
      equal([stdoutTotalBytes, stderrTotalBytes], [2_097_152, 2_097_152], "totals");
    },
  },
  {
    id: "stream-slow-reader",
    title: "a slow reader gets every byte",
    async run({ runtime, streamOn }) {
      let bytes = 0;
      let turns = 0;
      for await (const event of streamOn(await runtime(), "flood", ["2000000"])) {
        if (event.type === "stdout") bytes += event.data.length;
        turns += 1;
        if (turns % 4 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      }
      equal(bytes, 2_000_000, "bytes");
    },
  },
  {
    id: "stream-busy-host",
    title: "a host that is busy with something else for a while loses no byte",
    needs: needsPrograms,
    async run({ runtime, streamOn }) {
      const shared = await runtime();
      for (const length of [130_000, 215_000, 235_000, 250_000]) {
        let bytes = 0;
        let chunks = 0;
        for await (const event of streamOn(shared, "flood", [String(length)])) {
          if (event.type !== "stdout") continue;
          bytes += event.data.length;
          chunks += 1;
          if (chunks === 1) {
            // The command may well be over after this, and what is left of its output still be in a pipe.
            await new Promise((resolve) => setTimeout(resolve, 300));
            await leaveTimers();
            continue;
          }
          // Lets the next read begin, and then nothing at all for longer than any patience.
          for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
          if (chunks < 6) for (const until = performance.now() + 400; performance.now() < until; );
        }
        equal(bytes, length, "bytes");
      }
    },
  },
  {
    id: "stream-back-pressure",
    title: "a reader that stops reading stops the command, within what buffers hold",
    needs: needsDirectory,
    async run({ runtime, streamOn, directory }) {
      const { path, read } = await directory();
      const events = streamOn(await runtime(), "metered-flood", ["meter"], { workingDir: path });
      while ((await events.next()).value?.type !== "stdout");
      const written = async (): Promise<number> => (await read("meter"))?.length ?? 0;
      let before = -1;
      let after = await written();
      for (let round = 0; round < 50 && after !== before; round += 1) {
        await new Promise((resolve) => setTimeout(resolve, 300));
        [before, after] = [after, await written()];
      }
      equal(after, before, "progress of a command whose reader stopped");
      // 64 KiB each: pipes, sockets and stream buffers hold some, and never megabytes.
      between(after, [0, 64], "chunks written ahead of the reader");
      await events.return?.();
    },
  },
  {
    id: "stream-leave",
    title: "leaving the iteration cancels the command and waits until it is gone",
    needs: needsSurvivors,
    async run({ runtime, streamOn, survivors }) {
      const shared = await runtime();
      for await (const event of streamOn(shared, "two-sleepers")) if (event.type === "stdout") break;
      equal(await survivors(), 0, "processes left after a break");
      const thrown = (async () => {
        for await (const event of streamOn(shared, "two-sleepers")) {
          if (event.type === "stdout") throw new Error("The reader failed");
        }
      })();
      await thrown.catch(() => {});
      equal(await survivors(), 0, "processes left after a throw");
      for await (const event of streamOn(shared, "endless", ["x"])) if (event.type === "stdout") break;
      equal(await survivors(), 0, "processes left of an endless writer");
    },
  },
  {
    id: "stream-lazy",
    title: "nothing runs before the first event is asked for, nor after leaving",
    needs: all(needsDirectory, needsSurvivors),
    async run({ runtime, streamOn, directory, survivors }) {
      const { path, read } = await directory();
      const shared = await runtime();
      const events = streamOn(shared, "write-file", ["made", "x"], { workingDir: path });
      await events.return?.();
      equal((await events.next()).done, true, "done after leaving");
      equal(await read("made"), null, "file of a command that nobody asked for");
      equal(await survivors(), 0, "processes left");
    },
  },
  {
    id: "stream-errors",
    title: "what cannot be run is thrown out of the iteration",
    async run({ runtime }) {
      const shared = await runtime();
      await rejects(collect(shared.stream("no-such-command-here")), "command_not_found");
      const events = shared.stream("");
      await rejects(events.next(), "invalid_request");
      equal((await events.next()).done, true, "done after the error");
    },
  },
  {
    id: "stream-asked-ahead",
    title: "events that are asked for ahead come in order",
    async run({ runtime, streamOn }) {
      const events = streamOn(await runtime(), "no-newline");
      const results = await Promise.all(Array.from({ length: 12 }, () => events.next()));
      const types = results.map(({ value }) => value?.type ?? "done");
      equal(types.filter((type) => type === "finished").length, 1, "ends");
      equal(
        types.slice(types.indexOf("finished") + 1).every((type) => type === "done"),
        true,
        "nothing after the end",
      );
    },
  },
  {
    id: "stream-split-character",
    title: "chunks are the command's bytes, cut wherever it wrote them",
    needs: needsStdin,
    async run({ runtime, streamOn }) {
      const input = new TransformStream<Uint8Array, Uint8Array>();
      const writer = input.writable.getWriter();
      const decoder = new TextDecoder();
      let text = "";
      for await (const event of streamOn(await runtime(), "split-character", [], { stdin: input.readable })) {
        if (event.type !== "stdout") continue;
        text += decoder.decode(event.data, { stream: true });
        if (text === "") await writer.write(new TextEncoder().encode("go\n"));
      }
      equal(text, "中", "text");
    },
  },
];

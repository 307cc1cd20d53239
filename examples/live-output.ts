/**
 * Output as it comes, stdin as it is asked for: a command that runs for a while, read line by line.
 *
 *     node examples/live-output.ts        bun examples/live-output.ts        deno run -A examples/live-output.ts
 */

import { createRuntime } from "../mod.ts";

await using runtime = await createRuntime({ runtime: { backend: "native" } });

const build = `
  for step in fetch compile link; do echo "$step"; sleep 0.05; done
  echo "1 warning" >&2
  exit 2`;

const lines = { stdout: createLines(), stderr: createLines() };
const began = performance.now();
for await (const event of runtime.stream("sh", ["-c", build])) {
  switch (event.type) {
    case "started":
      console.log(`started on ${event.backend}`);
      break;
    case "stdout":
    case "stderr":
      for (const line of lines[event.type](event.data)) console.log(`${event.type}: ${line}`);
      break;
    case "finished":
      console.log(`exit ${event.output.exitCode}, ${event.output.stdoutTotalBytes} bytes of stdout`);
      break;
  }
}
console.log(performance.now() - began > 100 ? "it took a while" : "it was over at once");
// → started on native
// → stdout: fetch
// → stdout: compile
// → stdout: link
// → stderr: 1 warning
// → exit 2, 19 bytes of stdout
// → it took a while

// Leaving the loop cancels the command, and the loop is only left when it is gone.
let seen = 0;
for await (const event of runtime.stream("yes")) {
  if (event.type === "stdout") seen += event.data.byteLength;
  if (seen > 1_000_000) break;
}
console.log(seen > 1_000_000 ? "enough of yes" : "too little of yes");
// → enough of yes

// stdin is any stream of bytes. It is pulled as fast as the command reads, and its end is the command's end of file.
let number = 0;
const numbers = new ReadableStream<Uint8Array>({
  pull: (controller) => {
    number += 1;
    controller.enqueue(new TextEncoder().encode(`${number}\n`));
    if (number === 1000) controller.close();
  },
});
const sum = await runtime.execute("awk", ["{ sum += $1 } END { print sum }"], { stdin: numbers });
console.log(`the sum is ${sum.stdout.trimEnd()}`);
// → the sum is 500500

/** Bytes in, whole lines out: a chunk ends where the command's write happened to end. */
function createLines(): (chunk: Uint8Array) => readonly string[] {
  const decoder = new TextDecoder();
  let rest = "";
  return (chunk) => {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    return parts;
  };
}

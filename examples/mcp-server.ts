/**
 * An MCP server over stdio, driven through a runtime: its place is a line of the configuration, and it is gone when the
 * client is. The server beside this file (mcp-word-server.ts) and the client are those of @modelcontextprotocol/sdk.
 *
 *     node examples/mcp-server.ts        bun examples/mcp-server.ts        deno run -A examples/mcp-server.ts
 */

import { Buffer } from "node:buffer";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { createRuntime, type Runtime } from "../mod.ts";

const server = fileURLToPath(new URL("./mcp-word-server.ts", import.meta.url));
const args = "Deno" in globalThis ? ["run", "--quiet", "--allow-all", server] : [server];

await using runtime = await createRuntime({ runtime: { backend: "native" } });
const client = new Client({ name: "example", version: "1.0.0" });
await client.connect(createTransport(runtime, process.execPath, args));

const { tools } = await client.listTools();
console.log(tools.map(({ name, description }) => `${name}: ${description}`).join("\n"));
// → count: Counts the words of a text

const answer = await client.callTool({ name: "count", arguments: { text: "to be or not to be" } });
console.log(JSON.stringify(answer.content));
// → [{"type":"text","text":"6 words, 4 of them different"}]

await client.close();
console.log("the server is gone");
// → the server is gone

/** A transport of the SDK over a command's stdin and stdout. */
function createTransport(where: Runtime, command: string, words: readonly string[]): Transport {
  const stdin = new TransformStream<Uint8Array, Uint8Array>();
  const writer = stdin.writable.getWriter();
  const buffer = new ReadBuffer();
  let ended: Promise<void> = Promise.resolve();

  const read = async (transport: Transport) => {
    // No time limit: a server lives for as long as its client.
    for await (const event of where.stream(command, words, { stdin: stdin.readable, timeoutMs: 0 })) {
      if (event.type !== "stdout") continue;
      buffer.append(Buffer.from(event.data));
      for (let next = buffer.readMessage(); next !== null; next = buffer.readMessage()) transport.onmessage?.(next);
    }
  };
  const transport: Transport = {
    start: async () => {
      ended = read(transport)
        .catch((error: Error) => transport.onerror?.(error))
        .finally(() => transport.onclose?.());
    },
    send: (message: JSONRPCMessage) => writer.write(new TextEncoder().encode(serializeMessage(message))),
    close: async () => {
      // An end of file is how a client over stdio says goodbye.
      await writer.close();
      await ended;
    },
  };
  return transport;
}

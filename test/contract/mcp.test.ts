/** A long-running command over an open stdin: a real MCP server driven by the official client through `runtime.stream`. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRuntime, type Runtime } from "../../mod.ts";
import { type CommandTransport, createCommandTransport } from "../fixtures/command-transport.ts";
import { isolateState, markedProcesses } from "../fixtures/host-target.ts";

const node = fileURLToPath(new URL("../../node_modules/node/bin/node", import.meta.url));
const server = fileURLToPath(new URL("../fixtures/mcp-server.mjs", import.meta.url));
const state = isolateState();
let runtime: Runtime;

beforeAll(async () => {
  expect(existsSync(node)).toBe(true);
  runtime = await createRuntime({ runtime: { backend: "native", kill_grace_secs: 1 } });
});

afterAll(async () => {
  await runtime.close();
  state.remove();
});

interface Session {
  readonly client: Client;
  readonly transport: CommandTransport;
  readonly marker: string;
}

async function connect(): Promise<Session> {
  const marker = crypto.randomUUID();
  const options = { env: { MCP_MARKER: marker } };
  const transport = createCommandTransport({ runtime, command: node, args: [server], options });
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  return { client, transport, marker };
}

/** The text that a tool answers. */
async function call(client: Client, name: string, given: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: given });
  const [first] = content as readonly { readonly text: string }[];
  return first?.text ?? "";
}

test("a session: handshake, tools, calls one after another and at once, and an orderly end", async () => {
  const { client, transport, marker } = await connect();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["add", "repeat", "environment", "count", "crash"]);
  for (let round = 0; round < 20; round += 1)
    expect(await call(client, "add", { a: round, b: 1 })).toBe(`${round + 1}`);
  const sums = await Promise.all(Array.from({ length: 50 }, (_, index) => call(client, "add", { a: index, b: index })));
  expect(sums).toEqual(Array.from({ length: 50 }, (_, index) => `${2 * index}`));
  expect(markedProcesses("MCP_MARKER", marker)).toHaveLength(1);
  await client.close();
  expect(await transport.finished).toMatchObject({ outcome: "completed", exitCode: 0 });
  expect(transport.log).toBe("ready\n");
  expect(markedProcesses("MCP_MARKER", marker)).toEqual([]);
});

test("messages of megabytes in both directions, and notifications in their order", async () => {
  const { client } = await connect();
  const text = "grüße 中😀 ".repeat(50_000);
  expect(await call(client, "repeat", { text, times: 2 })).toBe(text + text);
  const seen: number[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void seen.push(Number(params.data)));
  expect(await call(client, "count", { to: 30 })).toBe("done");
  await expect.poll(() => seen.length).toBe(30);
  expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  await client.close();
});

test("a server has the whitelisted variables and its own, and none of the host's secrets", async () => {
  process.env["MCP_HOST_SECRET"] = "s3cr3t";
  try {
    const { client } = await connect();
    const names: readonly string[] = JSON.parse(await call(client, "environment", {}));
    expect(names).toContain("MCP_MARKER");
    expect(names).not.toContain("MCP_HOST_SECRET");
    await client.close();
  } finally {
    delete process.env["MCP_HOST_SECRET"];
  }
});

test("a server that crashes closes the session, and its exit code is known", async () => {
  const { client, transport } = await connect();
  await expect(client.callTool({ name: "crash", arguments: {} })).rejects.toThrow();
  expect(await transport.finished).toMatchObject({ outcome: "completed", exitCode: 7 });
});

test("sessions beside each other, and closing the runtime ends the servers", async () => {
  const own = await createRuntime({ runtime: { backend: "native", kill_grace_secs: 1 } });
  const marker = crypto.randomUUID();
  const transports = [1, 2, 3].map(() =>
    createCommandTransport({ runtime: own, command: node, args: [server], options: { env: { MCP_MARKER: marker } } }),
  );
  const clients = await Promise.all(
    transports.map(async (transport) => {
      const client = new Client({ name: "test", version: "1.0.0" });
      await client.connect(transport);
      return client;
    }),
  );
  expect(await Promise.all(clients.map((client, a) => call(client, "add", { a, b: 10 })))).toEqual(["10", "11", "12"]);
  await own.close();
  for (const { finished } of transports) expect((await finished).outcome).toBe("cancelled");
  expect(markedProcesses("MCP_MARKER", marker)).toEqual([]);
});

test("a server that does not exist fails the connection", async () => {
  const transport = createCommandTransport({ runtime, command: "/no/such/server", args: [] });
  const client = new Client({ name: "test", version: "1.0.0" });
  await expect(client.connect(transport)).rejects.toThrow();
  await expect(transport.finished).rejects.toMatchObject({ code: "command_not_found" });
});

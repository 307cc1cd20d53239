/** The MCP server that examples/mcp-server.ts drives: one tool, over stdio. */

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "words", version: "1.0.0" }, { capabilities: { tools: {} } });

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    {
      name: "count",
      description: "Counts the words of a text",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    },
  ],
}));

server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  const words = String(params.arguments?.["text"])
    .split(/\s+/)
    .filter((word) => word !== "");
  const said = `${words.length} words, ${new Set(words).size} of them different`;
  return { content: [{ type: "text", text: said }] };
});

await server.connect(new StdioServerTransport());

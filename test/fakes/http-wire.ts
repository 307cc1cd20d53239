/** HTTP/1.1 as bytes on a socket, for fakes that have to do what a proper server never would. */

import { createServer, type Server, type Socket } from "node:net";

export interface WireRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly socket: Socket;
}

/** A server on a unix socket; every request is the handler's, and so is its connection. */
export async function wireServer(
  path: string,
  handle: (request: WireRequest) => void,
): Promise<Server & { end(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const request = parse(received, socket);
      if (request === null) return;
      // One request a connection; what comes afterwards is the handler's.
      socket.off("data", onData);
      handle(request);
    };
    socket.on("data", onData);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const end = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    });
  return Object.assign(server, { end });
}

/** `null` while something of it is still to come. */
function parse(received: Buffer, socket: Socket): WireRequest | null {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const [first = "", ...lines] = received.subarray(0, end).toString("latin1").split("\r\n");
  const [method = "", target = ""] = first.split(" ");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const rest = received.subarray(end + 4);
  const body = bodyOf(rest, headers);
  if (body === null) return null;
  const url = new URL(target, "http://daemon");
  return { method, path: url.pathname, query: url.searchParams, headers, body, socket };
}

function bodyOf(rest: Buffer, headers: Readonly<Record<string, string>>): Buffer | null {
  if (headers["transfer-encoding"] === "chunked") return rest.includes("0\r\n\r\n") ? rest : null;
  const length = Number(headers["content-length"] ?? 0);
  return rest.length < length ? null : rest.subarray(0, length);
}

/** A whole answer, after which the connection ends. */
export function answer(
  socket: Socket,
  status: number,
  body: unknown = "",
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const own = {
    "Content-Type": "application/json",
    "Content-Length": String(bytes.length),
    Connection: "close",
    ...headers,
  };
  socket.end(Buffer.concat([head(status, own), bytes]));
}

/** The head of an answer alone. */
export function head(status: number, headers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from([`HTTP/1.1 ${status} Fake`, ...lines, "", ""].join("\r\n"), "latin1");
}

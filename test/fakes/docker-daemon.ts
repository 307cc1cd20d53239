/** A Docker daemon as its API looks on the wire, with the faults that a test asks for. Runs nothing. */

import { lstatSync, mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { concat, tarEnd, tarFile } from "../../src/archive/tar-write.ts";
import { answer, head, type WireRequest, wireServer } from "./http-wire.ts";

/** What goes wrong. Everything is in order by default, and every command writes `out` and `err` and exits with 3. */
export interface Faults {
  /** What a request to remove is answered, one after another; afterwards 204 or 404. */
  readonly remove?: readonly number[];
  /** How output is handed over: `plain` is a proxy that answers 200 instead of upgrading, `mute` one that never answers. */
  readonly attach?: "upgrade" | "plain";
  /** How many bytes of output are sent at a time. */
  readonly cut?: number;
  /** The connection that waits: answered with an error, dropped before its answer, or dropped while the command still runs. */
  readonly wait?: "missing" | "dropped" | "dropped-once";
  /** The command is over before the request to start is answered. */
  readonly overAtStart?: boolean;
  /** What the daemon does not do before it is told to: {@link FakeDaemon.goOn}. */
  readonly held?: "create" | "start" | "inspect";
  /** The container is made, and the connection is gone before anybody is told. */
  readonly createDropped?: boolean;
  readonly start?: { readonly status: number; readonly message: string };
  /** Of the image: not there until it is pulled, by a stream of these lines with this status. */
  readonly pull?: { readonly status: number; readonly lines: readonly string[]; readonly pauseMs?: number };
  /** What the image brings besides a PATH, as `NAME=value`. */
  readonly imageEnv?: readonly string[];
  /** The command goes on whatever it is sent. */
  readonly deaf?: boolean;
  /** The daemon is gone from then on. */
  readonly goneAfter?: "wait";
  /** Containers of others, as a list shows them, one list after another; the last stays. */
  readonly listed?: readonly (readonly object[])[];
  /** What it has of a directory that is to be mounted: that very one, or one of another machine with the same time and mode. */
  readonly mounts?: "same" | "alike";
  readonly version?: { readonly ApiVersion: string; readonly MinAPIVersion: string };
}

export interface FakeDaemon {
  readonly socket: string;
  /** Every request as `METHOD /path`, without the API's version. */
  readonly calls: readonly string[];
  readonly queries: readonly URLSearchParams[];
  /** The bodies of the requests to create. */
  readonly created: readonly object[];
  /** Containers that are there now. */
  readonly containers: ReadonlySet<string>;
  /** Ids and names of those that were asked to be removed, and of those that were killed. */
  readonly removed: readonly string[];
  readonly killed: readonly string[];
  /** Does what was held, and holds nothing any more. */
  goOn(): void;
  close(): Promise<void>;
}

const info = {
  ...{ ServerVersion: "20.10.24", OSType: "linux", MemoryLimit: true, SwapLimit: true, PidsLimit: true },
  ...{
    CpuCfsPeriod: true,
    CpuCfsQuota: true,
    SecurityOptions: ["name=seccomp,profile=default"],
    Runtimes: { runc: {} },
  },
};

export async function fakeDaemon(faults: Faults = {}): Promise<FakeDaemon> {
  const home = mkdtempSync(join(tmpdir(), "fake-docker-"));
  const socket = join(home, "docker.sock");
  const calls: string[] = [];
  const queries: URLSearchParams[] = [];
  const state = createState(faults);
  const removed: string[] = [];
  const killed: string[] = [];
  const created: object[] = [];
  const server = await wireServer(socket, (request) => {
    const path = request.path.replace(/^\/v[\d.]+/, "");
    calls.push(`${request.method} ${path.replace(/containers\/(?!create|json)[^/]+/, "containers/ID")}`);
    queries.push(request.query);
    const [, id = "", verb = ""] = /^\/containers\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    if (request.method === "DELETE") removed.push(id);
    if (path === "/containers/create") created.push(JSON.parse(request.body.toString("utf8")));
    if (verb === "kill") killed.push(id);
    if (state.isGone()) return request.socket.destroy();
    state.handle(request, path);
  });
  return {
    ...{ socket, calls, queries, created, removed, killed, containers: state.containers, goOn: state.goOn },
    close: async () => {
      await server.end();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

interface Mounted {
  readonly Source?: string;
  readonly Target: string;
}

function createState(faults: Faults) {
  const containers = new Set<string>();
  const removals = [...(faults.remove ?? [])];
  let hasImage = faults.pull === undefined;
  let isOver = false;
  let isGone = false;
  let drops = 0;
  let output: Socket | null = null;
  let mount: Mounted | null = null;
  const lists = [...(faults.listed ?? [])];
  const waiters: Socket[] = [];

  const end = () => {
    isOver = true;
    if (output !== null) sendOutput(output, faults);
    for (const waiter of waiters.splice(0)) tell(waiter);
  };
  const tell = (waiter: Socket) => {
    if (faults.goneAfter === "wait") isGone = true;
    if (faults.wait === "dropped" || (faults.wait === "dropped-once" && drops === 0)) {
      drops += 1;
      return void waiter.destroy();
    }
    waiter.end(chunked(JSON.stringify({ StatusCode: 3 })));
  };
  const make = ({ query, socket, body }: WireRequest) => {
    if (!hasImage) return answer(socket, 404, { message: "No such image: fake:latest" });
    const { HostConfig } = JSON.parse(body.toString("utf8")) as { HostConfig: { Mounts: Mounted[] } };
    mount = HostConfig.Mounts.find(({ Source }) => Source !== undefined) ?? null;
    containers.add(query.get("name") ?? "");
    if (faults.createDropped) return void socket.destroy();
    answer(socket, 201, { Id: "c1", Warnings: [] });
  };
  const remove = ({ socket }: WireRequest) => {
    const status = removals.shift();
    if (status !== undefined) {
      if (status === 404 || status === 204) containers.clear();
      return answer(socket, status, status === 204 ? "" : { message: `fake ${status}` });
    }
    const wasThere = containers.size > 0;
    containers.clear();
    if (wasThere) answer(socket, 204);
    else answer(socket, 404, { message: "No such container" });
  };
  const start = ({ socket }: WireRequest) => {
    if (faults.start !== undefined) return answer(socket, faults.start.status, { message: faults.start.message });
    if (faults.overAtStart) end();
    answer(socket, 204);
    if (!faults.overAtStart && !faults.deaf) setTimeout(end, 30);
  };
  const wait = ({ socket }: WireRequest) => {
    if (faults.wait === "missing") return answer(socket, 404, { message: "No such container: c1" });
    socket.write(head(200, { "Content-Type": "application/json", "Transfer-Encoding": "chunked" }));
    if (isOver) tell(socket);
    else waiters.push(socket);
  };
  const attach = ({ socket, query }: WireRequest) => {
    const isInput = query.get("stdin") === "1";
    if (faults.attach === "plain") {
      socket.write(head(200, { "Content-Type": "application/vnd.docker.raw-stream", Connection: "close" }));
    } else {
      socket.write(
        head(101, { "Content-Type": "application/vnd.docker.raw-stream", Connection: "Upgrade", Upgrade: "tcp" }),
      );
    }
    if (!isInput) output = socket;
  };

  const stat = ({ socket, query }: WireRequest) => {
    const below = (query.get("path") ?? "").slice(mount?.Target.length ?? 0);
    const found = lstatSync(`${mount?.Source ?? ""}${below}`, { throwIfNoEntry: false, bigint: true });
    if (mount === null || found === undefined || (below !== "" && faults.mounts !== "same"))
      return answer(socket, 404, "");
    const fraction = String(found.mtimeNs % 1_000_000_000n).padStart(9, "0");
    const mtime = found.mtime.toISOString().replace(/\.\d+Z$/, `.${fraction}Z`);
    const told = JSON.stringify({ mode: Number(found.mode & 0o777n), size: 0, mtime, linkTarget: "" });
    answer(socket, 200, "", { "X-Docker-Container-Path-Stat": Buffer.from(told).toString("base64") });
  };
  const inspect = ({ socket }: WireRequest) => {
    if (containers.size === 0) return answer(socket, 404, { message: "No such container" });
    const State = { Running: !isOver, ExitCode: isOver ? 3 : 0, OOMKilled: false };
    answer(socket, 200, {
      Id: "c1",
      Image: "sha256:fake",
      Config: { Env: ["PATH=/bin", ...(faults.imageEnv ?? [])] },
      State,
    });
  };
  let held: (() => void)[] | null = [];
  const hold = (what: Faults["held"], handle: (request: WireRequest) => void) => (request: WireRequest) => {
    if (faults.held === what && held !== null) held.push(() => handle(request));
    else handle(request);
  };
  const routes: Readonly<Record<string, (request: WireRequest) => void>> = {
    "GET /version": ({ socket }) =>
      answer(socket, 200, faults.version ?? { ApiVersion: "1.41", MinAPIVersion: "1.12" }),
    "GET /info": ({ socket }) => answer(socket, 200, info),
    "GET /containers/json": ({ socket }) => answer(socket, 200, (lists.length > 1 ? lists.shift() : lists[0]) ?? []),
    "POST /containers/create": hold("create", make),
    "POST start": hold("start", start),
    "POST wait": wait,
    "POST attach": attach,
    "POST kill": ({ socket }) => {
      answer(socket, 204);
      if (!faults.deaf) end();
    },
    "GET json": hold("inspect", inspect),
    "GET archive": ({ socket }) => answer(socket, 200, Buffer.from(program), { "Content-Type": "application/x-tar" }),
    "HEAD archive": stat,
    "PUT archive": ({ socket }) => answer(socket, 200),
    "POST /images/create": ({ socket }) => {
      hasImage = true;
      void sendPull(socket, faults.pull);
    },
  };
  return {
    containers,
    isGone: () => isGone,
    goOn: () => {
      const all = held ?? [];
      held = null;
      for (const handle of all) handle();
    },
    handle(request: WireRequest, path: string) {
      const last = path.slice(path.lastIndexOf("/") + 1);
      const route = routes[`${request.method} ${path}`] ?? routes[`${request.method} ${last}`];
      if (route !== undefined) return route(request);
      if (request.method === "DELETE") return remove(request);
      answer(request.socket, 404, { message: `no such image or page: ${path}` });
    },
  };
}

/** Something that can be executed, as an archive has it. */
const program = concat([tarFile({ path: "echo", mode: 0o755 }, Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0)), tarEnd()]);

function frame(stream: 1 | 2, text: string): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

/** A few bytes at a time, each in a packet of its own. */
function sendOutput(socket: Socket, { cut = 1000 }: Faults): void {
  const all = Buffer.concat([frame(1, "out"), frame(2, "err"), frame(1, "put\n")]);
  socket.setNoDelay(true);
  const send = (at: number) => {
    if (at >= all.length) return void socket.end();
    socket.write(all.subarray(at, at + cut));
    setTimeout(send, 1, at + cut);
  };
  send(0);
}

function chunked(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`;
}

async function sendPull(socket: Socket, pull: Faults["pull"]): Promise<void> {
  if (pull === undefined) return answer(socket, 200);
  if (pull.status !== 200) return answer(socket, pull.status, { message: pull.lines[0] ?? "" });
  socket.write(head(200, { "Content-Type": "application/json", Connection: "close" }));
  for (const line of pull.lines) {
    socket.write(`${line}\r\n`);
    await new Promise((resolve) => setTimeout(resolve, pull.pauseMs ?? 1));
  }
  socket.end();
}

/** What is asked of a daemon about one container, each call in the words of the API. */

import type { Duplex, Readable } from "node:stream";
import type { DockerArtifact } from "./artifact.ts";
import type { DaemonClient } from "./daemon.ts";

/** The parts of `GET /containers/{id}/json` that are read. */
export interface InspectedContainer {
  readonly Id: string;
  readonly Image: string;
  readonly Config?: { readonly Env?: readonly string[] | null };
  readonly State: {
    readonly Status?: string;
    readonly Running?: boolean;
    readonly ExitCode?: number;
    readonly OOMKilled?: boolean;
    readonly Error?: string;
    readonly StartedAt?: string;
    readonly FinishedAt?: string;
  };
}

/** What a path in a container is, from the header that an archive comes with. */
export interface PathStat {
  readonly mode: number;
  readonly size: number;
  readonly mtime: string;
  readonly linkTarget: string;
}

/** The calls of one container by its id, or by its name before the id is known. */
export function containerCalls(client: DaemonClient, id: string) {
  const path = `/containers/${encodeURIComponent(id)}`;
  return {
    inspect: async () => (await client.ask({ method: "GET", path: `${path}/json` })) as InspectedContainer,
    start: async () => void (await client.ask({ method: "POST", path: `${path}/start`, timeoutMs: startLimitMs })),
    kill: async (signal: string) =>
      void (await client.ask({ method: "POST", path: `${path}/kill`, query: { signal } })),
    remove: async () => void (await client.ask({ method: "DELETE", path, query: { force: true, v: true } })),
    attachOutput: (signal: AbortSignal): Promise<Duplex | Readable> =>
      client.hijack({ method: "POST", path: `${path}/attach`, query: { stream: 1, stdout: 1, stderr: 1 }, signal }),
    attachInput: (signal: AbortSignal): Promise<Duplex | Readable> =>
      client.hijack({ method: "POST", path: `${path}/attach`, query: { stream: 1, stdin: 1 }, signal }),
    wait: (condition: "next-exit" | "not-running", signal: AbortSignal) =>
      client.open({
        method: "POST",
        path: `${path}/wait`,
        query: { condition },
        signal,
        timeoutMs: Number.POSITIVE_INFINITY,
      }),
    /** What stands at a path; the last part of it is not followed where it is a link. */
    stat: async (at: string): Promise<PathStat> => {
      const { headers, body } = await client.open({ method: "HEAD", path: `${path}/archive`, query: { path: at } });
      body.resume();
      return parseStat(headers["x-docker-container-path-stat"]);
    },
    /** An archive of what stands at a path, as it comes. */
    read: async (at: string): Promise<Readable> =>
      (await client.open({ method: "GET", path: `${path}/archive`, query: { path: at } })).body,
    /** Unpacks an archive into a directory, unless it is called off. */
    write: async (at: string, upload: Readable | Uint8Array, signal: AbortSignal) => {
      const call = { method: "PUT", path: `${path}/archive`, query: { path: at }, upload } as const;
      await client.ask({ ...call, signal, timeoutMs: copyLimitMs });
    },
  };
}

export type ContainerCalls = ReturnType<typeof containerCalls>;

/** To make or start one: under load it takes its time. */
const startLimitMs = 120_000;
const copyLimitMs = 600_000;

/** @returns the container's id */
export async function createContainer(
  client: DaemonClient,
  { name, platform, body }: DockerArtifact,
): Promise<Created> {
  const query = platform === null ? { name } : { name, platform };
  const answer = await client.ask({ method: "POST", path: "/containers/create", query, body, timeoutMs: startLimitMs });
  const { Id, Warnings } = answer as { Id: string; Warnings?: readonly string[] | null };
  return { id: Id, warnings: Warnings ?? [] };
}

export interface Created {
  readonly id: string;
  /** What the daemon says it has left out of what was asked. */
  readonly warnings: readonly string[];
}

function parseStat(header: string | string[] | undefined): PathStat {
  const stat: unknown = JSON.parse(Buffer.from(String(header ?? ""), "base64").toString("utf8"));
  const { mode, size, mtime, linkTarget } = stat as PathStat;
  return { mode, size, mtime, linkTarget };
}

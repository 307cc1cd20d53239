/** The daemon's API over dockerode, whose types stay in this file. */

import { Agent } from "node:http";
import { Agent as TlsAgent } from "node:https";
import type { Duplex, Readable } from "node:stream";
import { inspect } from "node:util";
import Docker from "dockerode";
import { longestTimerMs } from "../../host/pause.ts";
import { type DaemonCall, type DaemonClient, DaemonError, type OpenAnswer } from "./daemon.ts";
import type { Endpoint } from "./endpoint.ts";

const defaultTimeoutMs = 60_000;
const fine = { 101: true, 200: true, 201: true, 202: true, 204: true, 304: true };

/** The part of docker-modem that is used. */
interface Modem {
  dial(options: object, callback: (error: unknown, answer: unknown) => void): void;
  buildRequest(options: object, ...rest: unknown[]): void;
}

/**
 * docker-modem writes every request out for its debugging, whether or not anybody listens, which takes Deno more than a
 * millisecond for each command: what says itself how it is shown is not looked through.
 */
function keepUnwritten(modem: Modem): Modem {
  const build = modem.buildRequest;
  modem.buildRequest = (options, ...rest) =>
    build.call(modem, Object.assign(options, { [inspect.custom]: () => "…" }), ...rest);
  return modem;
}

/** @param version of the API, as `1.41`; `null`: the daemon's own */
export function createClient(endpoint: Endpoint, version: string | null): DaemonClient {
  const tls = endpoint.kind === "tcp" ? endpoint.tls : null;
  const agent = tls === null ? new Agent() : new TlsAgent({ rejectUnauthorized: tls.verified });
  const options = optionsOf(endpoint, { agent, ...(version === null ? {} : { version: `v${version}` }) });
  const docker = withoutVariable("DOCKER_HOST", () => new Docker(options));
  const modem = keepUnwritten(docker.modem as object as Modem);
  const running = new Set<AbortController>();

  function dial(call: DaemonCall, how: { readonly isStream: boolean; readonly hijack: boolean }): Promise<unknown> {
    const controller = new AbortController();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const give = () => controller.abort();
    const limitMs = Math.min(call.timeoutMs ?? defaultTimeoutMs, longestTimerMs);
    const limit = setTimeout(() => {
      const message = `The daemon has not answered for ${limitMs} ms`;
      reject(new DaemonError(message, { status: null, code: "ETIMEDOUT" }));
      controller.abort();
    }, limitMs);
    if (call.signal?.aborted) give();
    call.signal?.addEventListener("abort", give, { once: true });
    running.add(controller);
    const answered = (error: unknown, answer: unknown) => {
      clearTimeout(limit);
      running.delete(controller);
      call.signal?.removeEventListener("abort", give);
      if (error === null || error === undefined) resolve(answer);
      else reject(asDaemonError(error));
    };
    modem.dial({ ...requestOf(call), ...how, statusCodes: fine, abortSignal: controller.signal }, answered);
    return promise;
  }

  return {
    ask: (call) => dial(call, { isStream: false, hijack: false }),
    async open(call) {
      const answer = (await dial(call, { isStream: true, hijack: false })) as Readable & OpenAnswer;
      tie(answer, call.signal);
      return { headers: answer.headers, body: answer };
    },
    async hijack(call) {
      // A request of no length: what ends a body of unknown length would be read as input.
      const connection = (await dial(
        { upload: new Uint8Array(0), ...call },
        { isStream: true, hijack: true },
      )) as Duplex;
      tie(connection, call.signal);
      return connection;
    },
    close() {
      for (const controller of running) controller.abort();
      agent.destroy();
    },
  };
}

/** What was asked for with a signal ends with it, and breaks off without taking the process along. */
function tie(stream: Readable, signal: AbortSignal | undefined): void {
  stream.on("error", () => {});
  if (signal === undefined) return;
  const end = () => stream.destroy();
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  stream.once("close", () => signal.removeEventListener("abort", end));
}

/** A call in docker-modem's words. */
function requestOf({ path, method, query, body, upload, registryAuth }: DaemonCall): object {
  return {
    // It takes the path's last character for the mark of a query.
    path: `${path}?`,
    method,
    options: { _query: query ?? {}, _body: body ?? {} },
    ...(upload === undefined ? {} : { file: upload instanceof Uint8Array ? Buffer.from(upload) : upload }),
    ...(registryAuth === undefined ? {} : { authconfig: { key: registryAuth } }),
  };
}

/**
 * docker-modem reads this process's variables although it is told where the daemon is: it takes what they name, and throws
 * where that is not there. Without this one it looks at none.
 */
function withoutVariable<Made>(name: string, make: () => Made): Made {
  const value = process.env[name];
  delete process.env[name];
  try {
    return make();
  } finally {
    if (value !== undefined) process.env[name] = value;
  }
}

/** Every part is named, also those that are not there: docker-modem fills gaps with what it takes for usual. */
function optionsOf(endpoint: Endpoint, own: object): Docker.DockerOptions {
  const none = { host: undefined, port: undefined, socketPath: undefined, timeout: undefined, ca: undefined };
  const rest = { ...own, ...none, cert: undefined, key: undefined, pathPrefix: "/", protocol: "http" as const };
  const address =
    endpoint.kind === "socket"
      ? { ...rest, socketPath: endpoint.path }
      : { ...rest, host: endpoint.host, port: endpoint.port };
  if (endpoint.kind !== "tcp" || endpoint.tls === null) return address as object as Docker.DockerOptions;
  const { ca, cert, key } = endpoint.tls;
  return { ...address, protocol: "https", ca, cert, key } as object as Docker.DockerOptions;
}

function asDaemonError(error: unknown): DaemonError {
  const { statusCode, code, json, message } = error as {
    readonly statusCode?: number;
    readonly code?: string;
    readonly json?: { readonly message?: string } | null;
    readonly message?: string;
  };
  const said = json?.message ?? message ?? String(error);
  const text = said.replace(/^\(HTTP code \d+\) [^-]*- /, "").trim();
  return new DaemonError(text, { status: statusCode ?? null, code: code ?? null, cause: error });
}

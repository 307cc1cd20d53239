/** Where the daemon is: the key of the configuration, `DOCKER_HOST`, the docker context, the default. */

import { createHash } from "node:crypto";
import { join } from "node:path";

/** Certificates as a daemon over TLS wants them. */
export interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Whether the daemon's own certificate is checked. */
  readonly verified: boolean;
}

/** A daemon's address, and who says so. */
export type Endpoint = {
  /** In words, for messages. */
  readonly from: string;
} & (
  | { readonly kind: "socket"; readonly path: string }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number; readonly tls: TlsFiles | null }
);

/** Why an address that somebody gave cannot be used. */
export interface EndpointFault {
  readonly reason: string;
  readonly remedy: string;
}

export interface EndpointSources {
  /** `runtime.docker.socket`, where somebody wrote it. */
  readonly socket: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Docker's own directory of settings. */
  readonly dockerConfig: string;
  readonly isWindows: boolean;
  /** `null` where there is no such file. */
  readonly readText: (path: string) => string | null;
}

const defaultSocket = "/var/run/docker.sock";
const defaultPipe = "//./pipe/docker_engine";

/** The first of the four that is there. A wrong one is a fault, and never passed over for the next. */
export function findEndpoint(sources: EndpointSources): Endpoint | EndpointFault {
  const { socket, env } = sources;
  if (socket !== null) return { kind: "socket", path: socket, from: "runtime.docker.socket" };
  const host = env["DOCKER_HOST"];
  if (host !== undefined && host !== "") return parseHost(host, { from: "DOCKER_HOST", tls: tlsOfEnv(sources) });
  const context = env["DOCKER_CONTEXT"] || currentContext(sources);
  if (context !== null && context !== "default") return endpointOfContext(context, sources);
  return { kind: "socket", path: sources.isWindows ? defaultPipe : defaultSocket, from: "the default" };
}

/** Docker's own directory of settings. */
export function dockerConfigDirectory(env: EndpointSources["env"], home: string): string {
  return env["DOCKER_CONFIG"] || join(home, ".docker");
}

interface ParseOptions {
  readonly from: string;
  readonly tls: () => TlsFiles | null;
}

function parseHost(host: string, { from, tls }: ParseOptions): Endpoint | EndpointFault {
  const scheme = /^([a-z]+):\/\//.exec(host)?.[1] ?? "tcp";
  const rest = host.replace(/^[a-z]+:\/\//, "");
  const fault = (what: string): EndpointFault => ({
    reason: `${from} is ${JSON.stringify(withoutUser(host))}, and ${what}`,
    remedy: "Give unix:///path/to/docker.sock or tcp://host:port",
  });
  if (scheme === "unix" || scheme === "npipe") return { kind: "socket", path: rest || defaultSocket, from };
  if (scheme === "ssh")
    return fault("a daemon is not reached by ssh: forward its socket, ssh -L /path.sock:/var/run/docker.sock");
  if (scheme !== "tcp" && scheme !== "http" && scheme !== "https") return fault(`${scheme} is no way to a daemon`);
  let url: URL;
  try {
    url = new URL(`http://${rest}`);
  } catch {
    return fault("that is no address");
  }
  if (url.pathname !== "/" || url.username !== "") return fault("that is more than a host and a port");
  const secured = scheme === "https" ? (tls() ?? { verified: true }) : tls();
  const port = url.port === "" ? (secured === null ? 2375 : 2376) : Number(url.port);
  return { kind: "tcp", host: url.hostname.replace(/^\[|\]$/g, ""), port, tls: secured, from };
}

function withoutUser(host: string): string {
  return host.replace(/\/\/[^@/]*@/, "//");
}

function tlsOfEnv({ env, dockerConfig, readText }: EndpointSources): () => TlsFiles | null {
  const wanted = env["DOCKER_TLS_VERIFY"] ?? "";
  return () => (wanted === "" ? null : tlsIn(env["DOCKER_CERT_PATH"] || dockerConfig, readText, true));
}

function tlsIn(directory: string, readText: EndpointSources["readText"], verified: boolean): TlsFiles {
  const part = (name: "ca" | "cert" | "key") => {
    const text = readText(join(directory, `${name}.pem`));
    return text === null ? {} : { [name]: text };
  };
  return { ...part("ca"), ...part("cert"), ...part("key"), verified };
}

function currentContext({ dockerConfig, readText }: EndpointSources): string | null {
  const config = parseObject(readText(join(dockerConfig, "config.json")));
  const name = config?.["currentContext"];
  return typeof name === "string" && name !== "" ? name : null;
}

function endpointOfContext(name: string, { dockerConfig, readText }: EndpointSources): Endpoint | EndpointFault {
  const id = createHash("sha256").update(name).digest("hex");
  const meta = parseObject(readText(join(dockerConfig, "contexts", "meta", id, "meta.json")));
  const docker = asObject(asObject(meta?.["Endpoints"])?.["docker"]);
  const host = docker?.["Host"];
  if (typeof host !== "string") {
    return {
      reason: `The docker context ${JSON.stringify(name)} has no address of a daemon below ${dockerConfig}`,
      remedy: "Choose another one with docker context use, or set DOCKER_HOST",
    };
  }
  const directory = join(dockerConfig, "contexts", "tls", id, "docker");
  const tls = () => {
    const files = tlsIn(directory, readText, docker?.["SkipTLSVerify"] !== true);
    return files.ca === undefined && files.cert === undefined ? null : files;
  };
  return parseHost(host, { from: `the docker context ${JSON.stringify(name)}`, tls });
}

type Json = Readonly<Record<string, unknown>>;

function parseObject(text: string | null): Json | null {
  if (text === null) return null;
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}

function asObject(value: unknown): Json | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

/** The address in words. */
export function describeEndpoint(endpoint: Endpoint): string {
  const address =
    endpoint.kind === "socket"
      ? endpoint.path
      : `${endpoint.tls === null ? "tcp" : "tls"}://${endpoint.host}:${endpoint.port}`;
  return `${address} (${endpoint.from})`;
}

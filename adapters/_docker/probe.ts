/** Whether a daemon can be used: each cause apart, each with its remedy. */

import { accessSync, constants, statSync } from "node:fs";
import { messageOf } from "../../src/errors.ts";
import type { Availability } from "../../src/types.ts";
import { type DaemonClient, DaemonError } from "./daemon.ts";
import { describeEndpoint, type Endpoint, type EndpointFault } from "./endpoint.ts";
import { type DaemonFacts, type DaemonInfo, factsOf, namesOf } from "./facts.ts";

/** The versions of the API that this adapter speaks, lowest and highest. Before 1.41 a platform would be ignored. */
export const spokenVersions = { least: "1.41", most: "1.51" } as const;

export type Probed =
  | { readonly availability: Availability & { readonly available: true }; readonly facts: DaemonFacts }
  | { readonly availability: Availability & { readonly available: false }; readonly facts: null };

export interface ProbeOptions {
  readonly endpoint: Endpoint | EndpointFault;
  /** Makes a client of the API's version, or of the daemon's own. */
  readonly connect: (endpoint: Endpoint, version: string | null) => Promise<DaemonClient>;
  readonly images: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

const probeLimitMs = 5000;

/** Never throws. */
export async function probeDaemon({ endpoint, connect, images, signal }: ProbeOptions): Promise<Probed> {
  if ("reason" in endpoint) return unavailable(endpoint.reason, endpoint.remedy);
  const obstacle = endpoint.kind === "socket" ? socketObstacle(endpoint.path) : null;
  if (obstacle !== null) return unavailable(obstacle.reason, obstacle.remedy);
  try {
    const client = await connect(endpoint, null);
    const given = { timeoutMs: probeLimitMs, ...(signal === undefined ? {} : { signal }) };
    const version = (await client.ask({ method: "GET", path: "/version", ...given })) as DaemonVersion;
    const apiVersion = commonVersion(version);
    if (apiVersion === null) {
      const range = `${version.MinAPIVersion ?? "?"} to ${version.ApiVersion ?? "?"}`;
      const { least, most } = spokenVersions;
      return unavailable(
        `The daemon at ${describeEndpoint(endpoint)} speaks API ${range}, and this adapter ${least} to ${most}`,
        "Upgrade whichever is older",
      );
    }
    const info = (await client.ask({ method: "GET", path: "/info", ...given })) as DaemonInfo;
    if (info.OSType !== undefined && info.OSType !== "linux") {
      return unavailable(`The daemon runs ${info.OSType} containers`, "Switch it to Linux containers");
    }
    const imageEnv = await envOfImages(client, images);
    const isPodman = version.Components?.some(({ Name }) => Name === "Podman Engine") === true;
    const facts = factsOf(info, { apiVersion, isLocal: endpoint.kind === "socket", isPodman, imageEnv });
    return { availability: { available: true, details: describe(endpoint, facts) }, facts };
  } catch (error) {
    const { reason, remedy } = failureOf(endpoint, error);
    return unavailable(reason, remedy);
  }
}

interface DaemonVersion {
  readonly Components?: readonly { readonly Name?: string }[] | null;
  readonly ApiVersion?: string;
  readonly MinAPIVersion?: string;
}

/** The highest version that both speak, or `null`. */
export function commonVersion({ ApiVersion, MinAPIVersion }: DaemonVersion): string | null {
  if (ApiVersion === undefined) return null;
  const { least, most } = spokenVersions;
  if (compareVersions(ApiVersion, least) < 0) return null;
  if (MinAPIVersion !== undefined && compareVersions(MinAPIVersion, most) > 0) return null;
  return compareVersions(ApiVersion, most) < 0 ? ApiVersion : most;
}

function compareVersions(one: string, other: string): number {
  const [a = 0, b = 0] = one.split(".").map(Number);
  const [c = 0, d = 0] = other.split(".").map(Number);
  return a - c || b - d;
}

function describe(endpoint: Endpoint, { version, apiVersion, isRootless, isPodman }: DaemonFacts): string {
  return `${isPodman ? "Podman" : "Docker"} ${version}${isRootless ? ", rootless" : ""}, API ${apiVersion}, at ${describeEndpoint(endpoint)}`;
}

function socketObstacle(path: string): EndpointFault | null {
  // A named pipe of Windows is no file.
  if (path.startsWith("//./pipe/") || path.startsWith("\\\\.\\pipe\\")) return null;
  try {
    if (!statSync(path).isSocket())
      return { reason: `${path} is no socket`, remedy: "Name the daemon's socket in runtime.docker.socket" };
    accessSync(path, constants.R_OK | constants.W_OK);
    return null;
  } catch (error) {
    return failureAt(path, error instanceof Error && "code" in error ? error.code : null);
  }
}

function failureAt(path: string, code: unknown): EndpointFault {
  if (code === "EACCES" || code === "EPERM") {
    return {
      reason: `This user may not use the docker socket ${path}`,
      remedy: "Run as a user of the group docker, which is as much as root, or use a rootless daemon",
    };
  }
  return {
    reason: `There is no docker socket at ${path}`,
    remedy: "Install docker and start it, or name another socket in runtime.docker.socket or DOCKER_HOST",
  };
}

const certificatesRemedy =
  "Look whether ca.pem, cert.pem and key.pem are this daemon's: in DOCKER_CERT_PATH, in ~/.docker, or those of the docker context";

function failureOf(endpoint: Endpoint, error: unknown): EndpointFault {
  const where = describeEndpoint(endpoint);
  const code = error instanceof DaemonError ? error.code : null;
  if (endpoint.kind === "socket" && (code === "EACCES" || code === "ENOENT")) {
    return failureAt(endpoint.path, code);
  }
  if (code === "ECONNREFUSED" || code === "FailedToOpenSocket" || code === "ConnectionRefused") {
    return { reason: `No daemon answers at ${where}`, remedy: "Start it: systemctl start docker" };
  }
  if (code === "ETIMEDOUT")
    return { reason: `The daemon at ${where} is too slow: ${messageOf(error)}`, remedy: "Look at its log" };
  if (error instanceof DaemonError && error.status !== null) {
    return {
      reason: `What answers at ${where} refuses: ${error.message}`,
      remedy: "Look whether it is a docker daemon, and one that lets this user in",
    };
  }
  const reason = `The daemon at ${where} cannot be reached: ${messageOf(error)}`;
  if (endpoint.kind === "socket" || endpoint.tls === null)
    return { reason, remedy: "Look whether it runs: docker info" };
  const shown = endpoint.tls.cert === undefined ? ", without a certificate of this side" : "";
  return { reason: `${reason} (over TLS${shown})`, remedy: certificatesRemedy };
}

/** Images that are not there yet have nothing to say. */
async function envOfImages(
  client: DaemonClient,
  images: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const known = new Map<string, readonly string[]>();
  const look = async (image: string) => {
    try {
      const path = `/images/${image}/json`;
      const found = (await client.ask({ method: "GET", path, timeoutMs: probeLimitMs })) as {
        readonly Config?: { readonly Env?: readonly string[] | null } | null;
      };
      known.set(image, namesOf(found.Config?.Env));
    } catch {
      // It is pulled when it is needed.
    }
  };
  await Promise.all(images.map(look));
  return known;
}

function unavailable(reason: string, remedy: string): Probed {
  return { availability: { available: false, reason, remedy }, facts: null };
}

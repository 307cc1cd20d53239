/** Pulls images: one pull for many who wait, each told how far it is, errors in the stream found, a time limit of its own. */

import { messageOf, RuntimeError } from "../../src/errors.ts";
import type { Progress } from "../../src/types.ts";
import { type DaemonClient, DaemonError } from "./daemon.ts";
import { parseReference } from "./image-reference.ts";

/** Somebody who waits for an image. */
export interface PullRequest {
  readonly image: string;
  readonly platform: string | null;
  readonly tell: (step: Progress) => void;
  readonly signal: AbortSignal;
}

export interface PullerOptions {
  readonly client: DaemonClient;
  readonly limitMs: number;
  /** The value of `X-Registry-Auth` for a registry, or `null`. */
  readonly authFor: (registry: string) => Promise<string | null>;
}

interface Pull {
  readonly listeners: Set<(step: Progress) => void>;
  readonly done: Promise<void>;
  readonly stop: AbortController;
}

/** @returns a function that settles when the image is there, or rejects with why it is not */
export function createPuller(options: PullerOptions): (request: PullRequest) => Promise<void> {
  const running = new Map<string, Pull>();
  return async ({ image, platform, tell, signal }) => {
    const key = `${image} ${platform ?? ""}`;
    const pull = running.get(key) ?? begin(options, image, platform);
    running.set(key, pull);
    void pull.done.catch(() => {}).then(() => running.get(key) === pull && running.delete(key));
    pull.listeners.add(tell);
    tell({ phase: "pull", message: `Pulling ${image}` });
    const left = Promise.withResolvers<never>();
    const leave = () => left.reject(cancelled());
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    try {
      await Promise.race([pull.done, left.promise]);
    } finally {
      signal.removeEventListener("abort", leave);
      pull.listeners.delete(tell);
      // The last one who leaves takes the pull along.
      if (pull.listeners.size === 0) {
        pull.stop.abort();
        if (running.get(key) === pull) running.delete(key);
      }
    }
  };
}

function begin(options: PullerOptions, image: string, platform: string | null): Pull {
  const listeners = new Set<(step: Progress) => void>();
  const stop = new AbortController();
  const tell = (step: Progress) => {
    for (const listener of listeners) listener(step);
  };
  const done = run(options, { image, platform, tell, signal: stop.signal });
  done.catch(() => {});
  return { listeners, done, stop };
}

/** One line of the daemon's answer. */
interface PullLine {
  readonly id?: string;
  readonly status?: string;
  readonly error?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
}

async function run(
  { client, limitMs, authFor }: PullerOptions,
  { image, platform, tell, signal }: PullRequest,
): Promise<void> {
  const { name, version, registry } = parseReference(image);
  const limit = AbortSignal.timeout(limitMs);
  const either = AbortSignal.any([limit, signal]);
  try {
    const auth = await authFor(registry);
    const { body } = await client.open({
      method: "POST",
      path: "/images/create",
      query: { fromImage: name, tag: version, ...(platform === null ? {} : { platform }) },
      ...(auth === null ? {} : { registryAuth: auth }),
      signal: either,
      timeoutMs: limitMs,
    });
    const stop = () => body.destroy();
    either.addEventListener("abort", stop, { once: true });
    if (either.aborted) stop();
    try {
      await readProgress(body, image, tell);
    } finally {
      either.removeEventListener("abort", stop);
    }
    either.throwIfAborted();
  } catch (error) {
    if (signal.aborted) throw cancelled();
    if (limit.aborted) throw tooLong(image, limitMs, error);
    throw pullError(image, error);
  }
}

async function readProgress(body: AsyncIterable<Uint8Array>, image: string, tell: PullRequest["tell"]): Promise<void> {
  const decoder = new TextDecoder();
  const layers = new Map<string, number>();
  let rest = "";
  const take = (line: string) => {
    if (line.trim() === "") return;
    const { id, status, error, progressDetail } = JSON.parse(line) as PullLine;
    if (error !== undefined) throw new DaemonError(error, { status: null, code: null });
    const share = shareOf(status, progressDetail);
    if (id === undefined || share === null) return;
    layers.set(id, share);
    const fraction = [...layers.values()].reduce((sum, part) => sum + part, 0) / layers.size;
    tell({ phase: "pull", message: `Pulling ${image}: ${layers.size} layers`, fraction });
  };
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  }
  take(rest);
}

/** How far a layer is: downloading is the first nine tenths. */
function shareOf(status: string | undefined, detail: PullLine["progressDetail"]): number | null {
  if (status === "Pull complete" || status === "Already exists") return 1;
  if (status === "Pulling fs layer" || status === "Waiting") return 0;
  const { current, total } = detail ?? {};
  if (status !== "Downloading" || current === undefined || total === undefined || total <= 0) {
    return status === "Download complete" || status === "Extracting" ? downloadShare : null;
  }
  return Math.min(1, current / total) * downloadShare;
}

const downloadShare = 0.9;

function pullError(image: string, cause: unknown): RuntimeError {
  const message = messageOf(cause);
  const isMissing = /not found|manifest unknown|does not exist/i.test(message);
  return new RuntimeError(
    isMissing ? "image_not_found" : "image_pull_failed",
    `Image pull failed: ${image}: ${message}. Check its name, the registry and docker login`,
    { backend: "docker", cause },
  );
}

function tooLong(image: string, limitMs: number, cause: unknown): RuntimeError {
  const message = `Image pull failed: ${image} was not there after ${limitMs / 1000} s: raise runtime.docker.pull_timeout_secs, or pull it beforehand`;
  return new RuntimeError("image_pull_failed", message, { backend: "docker", cause });
}

function cancelled(): RuntimeError {
  return new RuntimeError("cancelled_before_start", "The command was cancelled before it began", { backend: "docker" });
}

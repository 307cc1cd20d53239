/** A daemon as the rest of this adapter sees it: a few kinds of call, and one kind of error. */

import type { Duplex, Readable } from "node:stream";

/** One request. */
export interface DaemonCall {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** Without the API's version. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  /** Sent as it comes, in place of a body. */
  readonly upload?: Readable | Uint8Array;
  /** The value of `X-Registry-Auth`. */
  readonly registryAuth?: string;
  /** Ends the call, and also what it has answered and is still open. */
  readonly signal?: AbortSignal;
  /** Until the answer begins. @default 60 s */
  readonly timeoutMs?: number;
}

/** An answer whose body is still to come. */
export interface OpenAnswer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/** A daemon as this adapter talks to it. Every failure is a {@link DaemonError}. */
export interface DaemonClient {
  /** The answer's JSON, or its bytes where it is none. */
  ask(call: DaemonCall): Promise<unknown>;
  /** As soon as the headers are there. */
  open(call: DaemonCall): Promise<OpenAnswer>;
  /** A connection that is the container's streams from then on: raw where the daemon upgraded it, else only readable. */
  hijack(call: DaemonCall): Promise<Duplex | Readable>;
  close(): void;
}

/** What a daemon answered instead, or why it did not. */
export class DaemonError extends Error {
  override readonly name = "DaemonError";
  /** The HTTP status; `null` where there was no answer. */
  readonly status: number | null;
  /** The system's code of a failed connection, such as `ECONNREFUSED`. */
  readonly code: string | null;

  constructor(message: string, options: { status: number | null; code: string | null; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.status = options.status;
    this.code = options.code;
  }
}

/** The status of what a daemon answered; `null` for everything else that was thrown. */
export function statusOf(error: unknown): number | null {
  return error instanceof DaemonError ? error.status : null;
}

/** Moves bytes between a command's streams and its caller; nothing here decides when to stop. */

import { messageOf } from "./errors.ts";

/** Takes a chunk; a promise slows the command until it settles. */
export type Sink = (chunk: Uint8Array) => void | Promise<void>;

/** Hands on everything of a stream. Answers `null` at its end, or what it broke off with. */
export async function pump(stream: ReadableStream<Uint8Array>, sink: Sink): Promise<string | null> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return null;
      const taken = sink(value);
      if (taken !== undefined) await taken;
    }
  } catch (error) {
    return messageOf(error);
  }
}

/** Whether the memory behind a view has been transferred: then it reads as empty. */
export function isDetached({ buffer }: Uint8Array): boolean {
  return buffer instanceof ArrayBuffer && buffer.detached;
}

/** A caller's stream on its way into a command. */
export interface StdinFeed {
  /** Settles only if the caller's stream broke off, with what it broke off with. */
  readonly failed: Promise<string>;
  /** Lets go of the caller's stream, wherever it is. */
  stop(): void;
}

/** Writes a caller's stream to a command's stdin and closes it at the end. A command that stops reading is no error. */
export function feedStdin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  into: WritableStream<Uint8Array>,
): StdinFeed {
  const writer = into.getWriter();
  const failed = Promise.withResolvers<string>();
  const run = async () => {
    for (;;) {
      let next: Awaited<ReturnType<typeof reader.read>>;
      try {
        next = await reader.read();
      } catch (error) {
        return failed.resolve(`The stream given as stdin broke off: ${messageOf(error)}`);
      }
      if (next.done) return await writer.close();
      // A stream of text is easily given, and each platform would make something else of it.
      if (!(next.value instanceof Uint8Array))
        return failed.resolve(`The stream given as stdin gave a chunk of type ${typeof next.value}: give Uint8Array`);
      if (isDetached(next.value))
        return failed.resolve("The stream given as stdin gave a chunk whose memory was handed to somebody else");
      await writer.write(next.value);
    }
  };
  // A rejected write means that the command closed its end: there is nobody left to feed.
  run().catch(() => {});
  return {
    failed: failed.promise,
    // Not awaited: how long the caller's stream takes to hear of it is not the command's concern.
    stop: () => {
      reader.cancel("The command is over").catch(() => {});
      writer.abort("The command is over").catch(() => {});
    },
  };
}

/** The command's stderr, apart from what the sandbox program complains about on the same descriptor. */

import type { ByteSource } from "../drain.ts";

/**
 * Holds chunks that begin as a complaint until it is known whose they are, and drops them if they are one.
 *
 * @param isComplaint asked with the text; it may wait for the end of the program, but not for long: the command waits meanwhile
 */
export function withoutComplaint(
  source: ByteSource,
  complaint: string,
  isComplaint: (text: string) => Promise<boolean>,
): ByteSource {
  const decoder = new TextDecoder();
  let dropping: boolean | null = null;
  return {
    read: async () => {
      for (;;) {
        const chunk = await source.read();
        if (chunk === null || dropping === false) return chunk;
        const text = decoder.decode(chunk);
        dropping = (dropping === true || text.startsWith(complaint)) && (await isComplaint(text));
        if (!dropping) return chunk;
      }
    },
    cancel: () => source.cancel(),
  };
}

/** A source that remembers the last of what went through it. */
export interface Tail {
  readonly source: ByteSource;
  text(): string;
}

const mostTail = 8192;

export const noTail: Tail = { source: { read: async () => null, cancel: () => {} }, text: () => "" };

/** @param onEnd told when there is no more, or nobody wants it */
export function withTail(source: ByteSource, onEnd: () => void = () => {}): Tail {
  let kept = new Uint8Array(0);
  const keep = (chunk: Uint8Array) => {
    const last = chunk.subarray(-mostTail);
    const before = kept.subarray(Math.max(0, kept.byteLength + last.byteLength - mostTail));
    kept = new Uint8Array(before.byteLength + last.byteLength);
    kept.set(before);
    kept.set(last, before.byteLength);
  };
  return {
    source: {
      read: async () => {
        const chunk = await source.read();
        if (chunk === null) onEnd();
        else keep(chunk);
        return chunk;
      },
      cancel: () => {
        onEnd();
        source.cancel();
      },
    },
    text: () => new TextDecoder().decode(kept),
  };
}

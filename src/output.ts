/** The output cap: keeps the first bytes of a stream, counts the rest. */

/** One stream's bytes, up to a cap. */
export interface Collector {
  push(chunk: Uint8Array): void;
  /** All that came, kept or not. */
  readonly totalBytes: number;
  readonly truncated: boolean;
  /** What was kept, exactly. */
  bytes(): Uint8Array;
  /** What was kept as valid UTF-8: never cut inside a character, U+FFFD for bytes that are none. */
  text(): string;
}

/** Keeps at most `cap` bytes. */
export function createCollector(cap: number): Collector {
  const chunks: Uint8Array[] = [];
  let kept = 0;
  let total = 0;
  const bytes = () => {
    const [first] = chunks;
    if (first === undefined) return new Uint8Array(0);
    if (chunks.length === 1) return first;
    const whole = new Uint8Array(kept);
    let at = 0;
    for (const chunk of chunks) {
      whole.set(chunk, at);
      at += chunk.byteLength;
    }
    chunks.splice(0, chunks.length, whole);
    return whole;
  };
  return {
    push: (chunk) => {
      total += chunk.byteLength;
      const room = cap - kept;
      if (room <= 0 || chunk.byteLength === 0) return;
      // A view would keep alive, and expose, the runtime's larger read buffer.
      const part = chunk.byteLength > room || chunk.byteLength < chunk.buffer.byteLength ? chunk.slice(0, room) : chunk;
      chunks.push(part);
      kept += part.byteLength;
    },
    get totalBytes() {
      return total;
    },
    get truncated() {
      return total > kept;
    },
    bytes,
    // Left unflushed, the decoder drops a character that the cap cut in two.
    text: () =>
      kept === 0 ? "" : new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes(), { stream: total > kept }),
  };
}

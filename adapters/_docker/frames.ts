/** Takes the daemon's frames apart: eight bytes of which stream and how many, then that many bytes. Pure, cut anywhere. */

/** A piece of one stream. */
export interface Piece {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Uint8Array;
}

const headerBytes = 8;

/** Each call takes the next bytes, however they were cut, and answers what of the streams is in them. */
export function createFrameReader(): {
  read(chunk: Uint8Array): readonly Piece[];
  /** Whether the bytes so far end between two frames. */
  readonly isWhole: boolean;
} {
  const header = new Uint8Array(headerBytes);
  let filled = 0;
  let left = 0;
  let stream: Piece["stream"] = "stdout";

  return {
    read(chunk) {
      const pieces: Piece[] = [];
      for (let at = 0; at < chunk.length; ) {
        if (left > 0) {
          const bytes = chunk.subarray(at, at + left);
          pieces.push({ stream, bytes });
          left -= bytes.length;
          at += bytes.length;
          continue;
        }
        const part = chunk.subarray(at, at + headerBytes - filled);
        header.set(part, filled);
        filled += part.length;
        at += part.length;
        if (filled < headerBytes) break;
        filled = 0;
        stream = streamOf(header);
        left = new DataView(header.buffer).getUint32(4);
      }
      return pieces;
    },
    get isWhole() {
      return filled === 0 && left === 0;
    },
  };
}

/** 0 is input that is echoed, which a daemon counts as output. */
function streamOf([kind, a, b, c]: Uint8Array): Piece["stream"] {
  if (kind === undefined || kind > 2 || a !== 0 || b !== 0 || c !== 0)
    throw new Error("The daemon's answer is not in frames: something on the way has changed it");
  return kind === 2 ? "stderr" : "stdout";
}

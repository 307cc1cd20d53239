/** A container's stdin: a connection of its own, so that input which nobody reads takes no output with it. */

import type { Duplex } from "node:stream";

/** A sink that closes with an end of file, and rejects once nobody reads. It waits for its connection. */
export function inputSink(connecting: Promise<Duplex>): WritableStream<Uint8Array> {
  const connected = connecting.then((connection) => ({ connection, gone: whenGone(connection) }));
  connected.catch(() => {});
  const end = async () => void (await connected).connection.end();
  return new WritableStream<Uint8Array>(
    {
      write: async (bytes) => {
        const { connection, gone } = await connected;
        await Promise.race([written(connection, bytes), gone]);
      },
      close: end,
      abort: end,
    },
    { highWaterMark: 0 },
  );
}

/** Rejects when the other end is closed. */
function whenGone(connection: Duplex): Promise<never> {
  const gone = Promise.withResolvers<never>();
  gone.promise.catch(() => {});
  const lose = () => gone.reject(new Error("The command has closed its stdin"));
  for (const event of ["close", "error", "end"]) connection.once(event, lose);
  // The daemon says nothing here, and ends the connection when the command has ended or closed its side.
  connection.resume();
  return gone.promise;
}

function written(connection: Duplex, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** All of it and an end of file. A command that does not read is no error. */
export async function feedInput(connection: Duplex, bytes: Uint8Array): Promise<void> {
  const writer = inputSink(Promise.resolve(connection)).getWriter();
  try {
    // In pieces: what a connection holds back of one is held in memory.
    for (let at = 0; at < bytes.length; at += pieceBytes) await writer.write(bytes.subarray(at, at + pieceBytes));
    await writer.close();
  } catch {
    // The command closed its end.
  }
}

const pieceBytes = 64 * 1024;

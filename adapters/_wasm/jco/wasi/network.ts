/** `wasi:sockets` and `wasi:http`, which preview2-shim has, for guests that were given the network. */

import { Pollable, poll } from "./poll.ts";
import { InputStream, IoError, OutputStream } from "./streams.ts";

interface Class {
  readonly prototype: object;
}

/** What is used of preview2-shim. */
interface Shim {
  readonly sockets: Readonly<Record<string, object>>;
  readonly http: Readonly<Record<string, object>>;
  readonly io: {
    readonly error: { readonly Error: Class };
    readonly streams: { readonly InputStream: Class; readonly OutputStream: Class };
    readonly poll: { readonly Pollable: Class; poll(list: never): Uint32Array };
  };
}

/** The interfaces, `wasi:io` among them: its resources come from two sides. */
export async function createNetwork(): Promise<Record<string, object>> {
  const { sockets, http, io }: Shim = await import("@bytecodealliance/preview2-shim");
  return {
    ...named("wasi:sockets", sockets),
    ...named("wasi:http", http),
    "wasi:io/error": { Error: either(IoError, io.error.Error) },
    "wasi:io/streams": {
      InputStream: either(InputStream, io.streams.InputStream),
      OutputStream: either(OutputStream, io.streams.OutputStream),
    },
    "wasi:io/poll": {
      Pollable: either(Pollable, io.poll.Pollable),
      poll: (list: readonly Pollable[]) =>
        list.every((pollable) => isOf(io.poll.Pollable, pollable)) ? io.poll.poll(list as never) : poll(list),
    },
  };
}

/** `tcpCreateSocket` of the shim is the interface `tcp-create-socket`. */
function named(room: string, interfaces: Readonly<Record<string, object>>): Record<string, object> {
  const words = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(interfaces).map(([name, value]) => [`${room}/${words(name)}`, value]));
}

const isOf = ({ prototype }: Class, value: object): boolean => Object.prototype.isPrototypeOf.call(prototype, value);

/** What an instance of either is taken for an instance of. */
function either(mine: Class, other: Class): object {
  const isOne = (value: object): boolean => isOf(mine, value) || isOf(other, value);
  return Object.defineProperty(function Either() {}, Symbol.hasInstance, { value: isOne });
}

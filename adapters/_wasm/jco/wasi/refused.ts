/** What stands for the network where a guest has none: it can be imported, and every use of it is refused. */

/** As the interface knows it, where it has a word for it; elsewhere the use is a trap. */
const answers: Readonly<Record<string, unknown>> = {
  createTcpSocket: "access-denied",
  createUdpSocket: "access-denied",
  resolveAddresses: "access-denied",
  handle: { tag: "HTTP-request-denied" },
};

/** @param name of an interface, such as `wasi:sockets/tcp` */
export function refused(name: string): object {
  return new Proxy(
    {},
    {
      get: (_, key) => (typeof key === "string" ? refuse(name, key) : undefined),
    },
  );
}

function refuse(name: string, key: string): unknown {
  if (/^[A-Z]/.test(key)) return refusedClass(name, key);
  // A guest may hold a network on which it can do nothing.
  if (key === "instanceNetwork") return () => new Network();
  return () => {
    if (key in answers) throw answers[key];
    throw new Error(`${name} was used, and the guest has no network`);
  };
}

class Network {}

function refusedClass(name: string, key: string): unknown {
  if (key === "Network") return Network;
  return class {
    constructor() {
      throw new Error(`${name} was used, and the guest has no network`);
    }
  };
}

/** Attacks by way of sockets, and of what processes share without files. */

import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { type Attack, python, saysAllowed, shows } from "./attack.ts";

/** Hardware addresses of this machine's network interfaces. */
const addresses = () =>
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .map(({ mac }) => mac)
    .filter((mac) => mac !== "00:00:00:00:00:00");

const connect = (family: string, address: string) =>
  python(`s = socket.socket(socket.${family}); s.connect(${address}); s.send(b"hello")\n`);

/** A number for System V's keys that nobody else has. */
const keyOf = (marker: string) => Number.parseInt(marker.slice(-7), 16) + 1;

export const reachingAttacks: readonly Attack[] = [
  {
    name: "connect to a server on the host's loopback",
    needs: ["python3"],
    async stage({ hostSide }) {
      const { told, drain } = await hostSide("tcp");
      return {
        script: [`exec 5<>/dev/tcp/127.0.0.1/${told} && echo hello >&5`],
        succeeded: async () => (await drain()).length > 0,
      };
    },
  },
  {
    name: "send a datagram to the host's loopback",
    needs: ["python3"],
    async stage({ hostSide, marker }) {
      const { told, drain } = await hostSide("udp");
      return {
        script: [`echo -n ${marker} > /dev/udp/127.0.0.1/${told}`],
        succeeded: async () => (await drain()).includes(marker),
      };
    },
  },
  {
    name: "connect to a unix socket in the host user's home",
    needs: ["python3"],
    async stage({ hostSide, outside }) {
      const { told, drain } = await hostSide("unix", join(outside, "s"));
      return { ...connect("AF_UNIX", `"${told}"`), succeeded: async () => (await drain()).length > 0 };
    },
  },
  {
    name: "connect to an abstract unix socket of the host",
    needs: ["python3"],
    async stage({ hostSide, marker }) {
      const { drain } = await hostSide("unix", `@${marker}`);
      return { ...connect("AF_UNIX", `"\\0${marker}"`), succeeded: async () => (await drain()).length > 0 };
    },
  },
  {
    name: "see the host's network interfaces",
    needs: ["python3"],
    obstacle: () => (addresses().length > 0 ? null : "this machine has no network interface but loopback"),
    stage: () => ({
      script: ["ip link; cat /sys/class/net/*/address; for p in $PPID 1; do cat /proc/$p/net/arp; done"],
      succeeded: ({ stdout }) => addresses().some((mac) => stdout.includes(mac)),
    }),
  },
  {
    name: "open a raw socket",
    onlyAs: "root",
    needs: ["python3"],
    stage: () => ({
      ...python(
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3).close(); socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close(); report(0)\n",
      ),
      succeeded: saysAllowed,
    }),
  },
  {
    name: "read shared memory of the host",
    needs: ["python3"],
    async stage({ hostSide, marker, secret }) {
      const { told } = await hostSide("shm", `${keyOf(marker)}`, secret);
      const text =
        "libc.shmat.restype = ctypes.c_void_p\nm = libc.shmat(int(sys.argv[1]), None, 0o10000)\nprint(ctypes.string_at(m, 100))\n";
      return { ...python(text, [told]), succeeded: shows(secret) };
    },
  },
  {
    name: "put a message into a queue of the host",
    needs: ["python3"],
    async stage({ hostSide, marker }) {
      const { drain } = await hostSide("msg", `${keyOf(marker)}`);
      const text =
        "b = struct.pack('l', 1) + sys.argv[2].encode()\nprint(libc.msgsnd(libc.msgget(int(sys.argv[1]), 0), b, len(b) - 8, 0o4000))\n";
      return {
        ...python(text, [`${keyOf(marker)}`, marker]),
        succeeded: async () => (await drain()).includes(marker),
      };
    },
  },
  {
    name: "put a message into a POSIX queue of the host",
    needs: ["python3"],
    async stage({ hostSide, marker }) {
      const { drain } = await hostSide("mq", `/${marker}`);
      const text =
        "rt = ctypes.CDLL('librt.so.1'); q = rt.mq_open(('/' + sys.argv[1]).encode(), 1)\nprint(rt.mq_send(q, sys.argv[1].encode(), len(sys.argv[1]), 0))\n";
      return { ...python(text, [marker]), succeeded: async () => (await drain()).includes(marker) };
    },
  },
  {
    name: "read a key from the user's keyring",
    needs: ["python3"],
    async stage({ hostSide, marker, secret, defer }) {
      const { drain } = await hostSide("key", marker, secret);
      defer(() => void drain().catch(() => {}));
      const text = `for ring in -5, -4, -3:
    sys_call(250, 8, -4, -3)
    k = sys_call(250, 10, ring, b"user", sys.argv[1].encode(), 0)
    b = ctypes.create_string_buffer(100)
    if k > 0: print(sys_call(250, 11, k, b, 100), b.raw)
`;
      return {
        ...python(text, [marker]),
        async succeeded(evidence) {
          await drain();
          return shows(secret)(evidence);
        },
      };
    },
  },
  {
    name: "plant a key in the user's keyring",
    needs: ["python3"],
    async stage({ hostSide, marker, secret }) {
      const { drain } = await hostSide("key", marker, secret);
      const text = 'print(sys_call(248, b"user", (sys.argv[1] + "-planted").encode(), b"x", 1, -4))\n';
      return {
        ...python(text, [marker]),
        succeeded: async () => (await drain()).includes(`${marker}-planted`),
      };
    },
  },
  {
    name: "type into a terminal of the host",
    needs: ["python3"],
    async stage({ hostSide, marker }) {
      const { told, drain } = await hostSide("terminal");
      const text =
        "import fcntl\nf = os.open(sys.argv[1], os.O_RDWR)\nfor c in sys.argv[2]: fcntl.ioctl(f, 0x5412, c.encode())\n";
      return { ...python(text, [told, marker]), succeeded: async () => (await drain()).includes(marker) };
    },
  },
];

/** Attacks on the kernel's privileged or wide doors, and on the walls of namespaces. */

import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { type Attack, allowed, python, saysAllowed, shows } from "./attack.ts";
import { read } from "./scene.ts";

/** One system call; `name` says what it would be good for. Not every kernel has it for every user. */
const calling = (name: string, text: string, onlyAs?: "root"): Attack => ({
  name,
  needs: ["python3"],
  ...(onlyAs === undefined ? {} : { onlyAs }),
  obstacle: () => (isAllowedHere(text) ? null : "the kernel refuses it to the host itself"),
  stage: () => ({ ...python(text), succeeded: saysAllowed }),
});

function isAllowedHere(text: string): boolean {
  const { files = {} } = python(text);
  const { stdout } = spawnSync("/usr/bin/env", ["python3", "-"], { input: files["attack.py"], encoding: "utf8" });
  return stdout.includes(allowed);
}

/** The numbers of this machine's first disk, as mknod takes them; `null` where there is none, or none that may be read. */
function firstDisk(): readonly [major: string, minor: string] | null {
  const line = read("/proc/partitions")
    .split("\n")
    .find((entry) => /\d+ +\S+$/.test(entry) && !/ram|loop/.test(entry));
  const [major, minor, , name] = line?.trim().split(/ +/) ?? [];
  if (major === undefined || minor === undefined) return null;
  try {
    closeSync(openSync(`/dev/${name}`, "r"));
    return [major, minor];
  } catch {
    return null;
  }
}

export const kernelAttacks: readonly Attack[] = [
  calling(
    "load a program into the kernel: bpf()",
    'a = struct.pack("IIII", 2, 4, 4, 1) + bytes(104)\nreport(sys_call(321, 0, a, len(a)))\n',
    "root",
  ),
  calling("handle page faults of the user's own: userfaultfd()", "report(sys_call(323, 1))\n"),
  calling(
    "count events of the machine: perf_event_open()",
    'a = struct.pack("IIQ", 1, 112, 0) + bytes(24) + struct.pack("Q", 0x60) + bytes(64)\nreport(sys_call(298, a, 0, -1, -1, 0))\n',
  ),
  calling("queue work in the kernel: io_uring_setup()", "report(sys_call(425, 1, bytes(120)))\n"),
  calling("keep keys in the kernel: add_key()", 'k = sys_call(248, b"user", b"prx-hostile", b"x", 1, -2)\nreport(k)\n'),
  calling("open a socket to the hypervisor", "socket.socket(40, socket.SOCK_STREAM).close(); report(0)\n"),
  calling("load a module: init_module()", 'report(sys_call(175, b"", 0, b""), errno.ENOEXEC)\n', "root"),
  calling("reach ports of the hardware: ioperm()", "report(sys_call(173, 0x80, 1, 1))\n", "root"),
  calling("a user namespace of its own: unshare()", "report(sys_call(272, 0x10000000))\n"),
  calling(
    "a user namespace of its own: clone()",
    "r = sys_call(56, 0x10000000 | 17, 0, 0, 0, 0)\nif r == 0: os._exit(0)\nreport(r)\n",
  ),
  calling(
    "be root in a user namespace, and mount",
    'u = os.getuid(); report(0) if sys_call(272, 0x10020000) == 0 and libc.mount(b"x", b".", b"tmpfs", 0, None) == 0 else print("no")\n',
  ),
  {
    name: "mount over a directory of the host's",
    onlyAs: "root",
    needs: ["mount"],
    stage({ outside, marker, defer }) {
      defer(() => {
        if (read("/proc/self/mounts").includes(marker)) execFileSync("umount", [outside]);
      });
      return {
        script: [`mount -t tmpfs ${marker} ${outside}`],
        succeeded: () => read("/proc/self/mounts").includes(marker),
      };
    },
  },
  {
    name: "take away what covers the home",
    onlyAs: "root",
    needs: ["unshare", "umount"],
    stage: ({ write, outside, secret }) => ({
      // In a mount namespace of its own, so that on the host itself nothing is taken away for others.
      script: [
        `unshare -m --propagation private sh -c 'umount -l ~; mount -o remount,rw /; cat ${write(join(outside, "token"), secret)}'`,
      ],
      succeeded: shows(secret),
    }),
  },
  {
    name: "enter the namespaces of another process",
    onlyAs: "root",
    needs: ["nsenter"],
    async stage({ victim, write, outside, secret }) {
      const { pid } = await victim();
      const path = write(join(outside, "token"), secret);
      return { script: [`for p in ${pid} $PPID 1; do nsenter -t $p -m cat ${path}; done`], succeeded: shows(secret) };
    },
  },
  {
    name: "climb out of the root directory",
    onlyAs: "root",
    needs: ["python3"],
    stage({ write, outside, secret }) {
      const text =
        'os.mkdir("jail"); os.chroot("jail")\nfor _ in range(30): os.chdir("..")\nos.chroot("."); print(open(sys.argv[1]).read())\n';
      return { ...python(text, [write(join(outside, "token"), secret)]), succeeded: shows(secret) };
    },
  },
  {
    name: "open a file by its number on the disk",
    onlyAs: "root",
    needs: ["python3"],
    obstacle: () =>
      /^\S+ \/ ext4 /m.test(read("/proc/self/mounts"))
        ? null
        : "the root file system is not ext4, whose numbers are known",
    stage({ write, outside, secret }) {
      const text = `mount = os.open(".", os.O_RDONLY)
handle = struct.pack("IiII", 8, 1, 2, 0)
root = sys_call(304, mount, handle, os.O_RDONLY)
print(root, flush=True)
print(os.read(os.open(sys.argv[1].lstrip("/"), os.O_RDONLY, dir_fd=root), 100))
`;
      return { ...python(text, [write(join(outside, "token"), secret)]), succeeded: shows(secret) };
    },
  },
  {
    name: "make a device",
    onlyAs: "root",
    needs: ["mknod"],
    stage: () => ({
      script: ["mknod device c 1 5 && [ $(head -c 9 device | wc -c) = 9 ] && echo ALLOWED"],
      succeeded: saysAllowed,
    }),
  },
  {
    name: "make a device for the disk, and read it",
    onlyAs: "root",
    needs: ["mknod"],
    obstacle: () => (firstDisk() === null ? "the host itself has no disk that it may read" : null),
    stage: () => ({
      script: [`mknod disk b ${firstDisk()?.join(" ")} && [ $(head -c 4096 disk | wc -c) = 4096 ] && echo ALLOWED`],
      succeeded: saysAllowed,
    }),
  },
  {
    name: "read the memory of the machine",
    onlyAs: "root",
    obstacle: () => (existsSync("/proc/kcore") ? null : "there is no /proc/kcore"),
    stage: () => ({ script: ["[ $(head -c 64 /proc/kcore | wc -c) = 64 ] && echo ALLOWED"], succeeded: saysAllowed }),
  },
  {
    name: "give the host another name",
    onlyAs: "root",
    needs: ["hostname"],
    stage({ marker, defer }) {
      const before = hostname();
      const now = () => read("/proc/sys/kernel/hostname").trim();
      defer(() => {
        if (now() !== before) execFileSync("hostname", [before]);
      });
      return { script: [`hostname ${marker}`], succeeded: () => now() === marker };
    },
  },
  {
    name: "have the powers of the host's root",
    onlyAs: "root",
    stage: () => ({
      script: ["grep CapEff /proc/self/status"],
      // CAP_SYS_ADMIN, by its number. In a user namespace of its own a sandbox could have it and it would mean little.
      succeeded: ({ stdout }) => (BigInt(`0x${/CapEff:\s*([0-9a-f]+)/.exec(stdout)?.[1] ?? "0"}`) & (1n << 21n)) !== 0n,
    }),
  },
  {
    name: "become root by a program that is set so",
    onlyAs: "user",
    needs: ["su", "timeout"],
    stage: () => ({
      // It waits for a password, and meanwhile everybody can see as whom.
      script: [
        "mkfifo in; exec 8<>in; timeout 20 su root -c true <in & p=$!",
        'until c=$(pgrep -P $p) && [ "$(cat /proc/$c/comm)" = su ] || ! kill -0 $p; do :; done 2>/dev/null',
        "grep Uid /proc/$c/status; kill $p",
      ],
      succeeded: ({ stdout }) => /^Uid:\t\d+\t0\t/m.test(stdout),
    }),
  },
];

/** Attacks that read what is none of the command's business. */

import { closeSync, existsSync, openSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type Attack, python, shows } from "./attack.ts";
import { read } from "./scene.ts";

/** A victim that holds an open file which has no name any more; its descriptor is 9. */
const holding = (path: string) => `exec 9< ${path}; rm ${path}; exec sleep 600`;

/** Entries of an environment that a command does not get by the whitelist. */
function privateEntries(environ: string): readonly string[] {
  const given = ["PATH", "HOME", "TERM", "LANG", "USER"];
  return environ.split("\0").filter((entry) => entry.length > 6 && !given.includes(entry.split("=")[0] ?? ""));
}

/** Reads the memory of a process between two addresses with `source`. */
const searchStack = (source: string) => `pid = int(sys.argv[1])
line = next(l for l in open(f"/proc/{pid}/maps") if "[stack]" in l)
low, high = (int(x, 16) for x in line.split()[0].split("-"))
${source}
sys.stdout.buffer.write(data)
`;

export const readingAttacks: readonly Attack[] = [
  {
    name: "read a file in the host user's home",
    stage: ({ write, outside, secret }) => ({
      script: [`cat ${write(join(outside, "token"), secret)}; cat ~/.prx-hostile-*/*`],
      succeeded: shows(secret),
    }),
  },
  {
    name: "read the keys in ~/.ssh",
    stage: ({ write, marker, secret }) => {
      write(join(homedir(), ".ssh", marker), secret);
      return { script: [`cat ~/.ssh/* ${homedir()}/.ssh/*`], succeeded: shows(secret) };
    },
  },
  {
    name: "read the passwords of the system",
    onlyAs: "root",
    stage: () => ({ script: ["cat /etc/shadow"], succeeded: shows(read("/etc/shadow").split("\n")[0] ?? "") }),
  },
  {
    name: "read another project's directory",
    stage: ({ write, beside, secret }) => ({
      script: [`cat ../other/.env; cat ${write(join(beside, ".env"), secret)}; cat $PWD/../*/.env`],
      succeeded: shows(secret),
    }),
  },
  {
    name: "read a file by a link that was in the workspace before",
    stage: ({ write, outside, secret }) => ({
      script: [`ln -s ${write(join(outside, "token"), secret)} link; cat link; cp -L link copy; cat copy`],
      succeeded: shows(secret),
    }),
  },
  {
    name: "read the environment of the host process",
    stage: () => {
      const entries = privateEntries(read("/proc/self/environ"));
      return {
        script: [`cat /proc/$PPID/environ /proc/${process.pid}/environ`],
        succeeded: ({ stdout }) => entries.some((entry) => stdout.split("\0").includes(entry)),
      };
    },
  },
  {
    name: "read the environment of the machine's first process",
    onlyAs: "root",
    obstacle: () => (privateEntries(read("/proc/1/environ")).length > 0 ? null : "the first process has no variables"),
    stage: () => {
      const entries = privateEntries(read("/proc/1/environ"));
      return {
        script: ["cat /proc/1/environ"],
        succeeded: ({ stdout }) => entries.some((entry) => stdout.split("\0").includes(entry)),
      };
    },
  },
  {
    name: "search the environments of all processes",
    async stage({ victim, secret }) {
      await victim(undefined, { TOKEN: secret });
      return { script: ["cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -a ^TOKEN="], succeeded: shows(secret) };
    },
  },
  {
    name: "search the command lines of all processes",
    async stage({ victim, secret }) {
      await victim(`exec bash -c 'exec -a "$0" sleep 600' ${secret}`);
      return { script: ["cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'"], succeeded: shows(secret) };
    },
  },
  {
    name: "open a descriptor of another process",
    async stage({ victim, write, outside, secret }) {
      const { pid } = await victim(holding(write(join(outside, "held"), secret)));
      return { script: [`cat /proc/${pid}/fd/9`], succeeded: shows(secret) };
    },
  },
  {
    name: "take a descriptor out of another process",
    needs: ["python3"],
    async stage({ victim, write, outside, secret }) {
      const { pid } = await victim(holding(write(join(outside, "held"), secret)));
      const text = "fd = sys_call(438, sys_call(434, int(sys.argv[1]), 0), 9, 0)\nprint(os.pread(fd, 100, 0))\n";
      return { ...python(text, [`${pid}`]), succeeded: shows(secret) };
    },
  },
  {
    name: "reach the host's files by another process's root and directory",
    async stage({ victim, write, outside, secret }) {
      write(join(outside, "token"), secret);
      const { pid } = await victim();
      return {
        script: [`cat /proc/${pid}/root${outside}/token /proc/${pid}/cwd/token /proc/$PPID/root${outside}/token`],
        succeeded: shows(secret),
      };
    },
  },
  {
    name: "reach the host's files by the first process's root",
    onlyAs: "root",
    obstacle: () => (existsSync("/proc/1/root/etc") ? null : "the first process keeps its root from the host itself"),
    stage: ({ write, outside, secret }) => ({
      script: [`cat /proc/1/root${write(join(outside, "token"), secret)}`],
      succeeded: shows(secret),
    }),
  },
  {
    name: "read another process's memory by /proc",
    needs: ["python3"],
    async stage({ victim, secret }) {
      const { pid } = await victim(undefined, { TOKEN: secret });
      const source = 'f = open(f"/proc/{pid}/mem", "rb", 0); f.seek(low); data = f.read(high - low)';
      return { ...python(searchStack(source), [`${pid}`]), succeeded: shows(secret) };
    },
  },
  {
    name: "read another process's memory by process_vm_readv",
    needs: ["python3"],
    async stage({ victim, secret }) {
      const { pid } = await victim(undefined, { TOKEN: secret });
      const source = `size = high - low; b = ctypes.create_string_buffer(size)
here = struct.pack("QQ", ctypes.addressof(b), size); there = struct.pack("QQ", low, size)
print(sys_call(310, pid, here, 1, there, 1, 0)); data = b.raw`;
      return { ...python(searchStack(source), [`${pid}`]), succeeded: shows(secret) };
    },
  },
  {
    name: "find a descriptor that the host has open",
    stoppedAnyway: "the native backend hands no descriptors on",
    stage({ write, outside, secret, defer }) {
      const fd = openSync(write(join(outside, "held"), secret), "r");
      defer(() => closeSync(fd));
      return {
        script: ["for f in /proc/self/fd/*; do n=${f##*/}; [ $n -gt 2 ] && timeout 1 cat <&$n; done"],
        succeeded: shows(secret),
      };
    },
  },
  {
    name: "read the log of the kernel",
    needs: ["dmesg"],
    onlyAs: "root",
    stage: () => ({
      script: ["dmesg -S | tail -n 3; dmesg | tail -n 3"],
      succeeded: ({ stdout }) => /^\[ *\d+\.\d+\] /m.test(stdout),
    }),
  },
  {
    name: "read a secret in the host's shared memory",
    stage({ write, marker, secret }) {
      write(join("/dev/shm", marker), secret);
      return { script: ["cat /dev/shm/*"], succeeded: shows(secret) };
    },
  },
];

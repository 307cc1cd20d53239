/** The seccomp filter, run by a small interpreter: what it refuses, and that everything else passes. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { architectureOf, firejailSeccompFlags, seccompFilter } from "../../adapters/_native/seccomp-filter.ts";
import { numberOf, type SyscallName, syscallNumbers } from "../../adapters/_native/syscalls.ts";

interface Call {
  readonly arch: number;
  readonly nr: number;
  readonly args?: readonly bigint[];
}
type Answer = "allow" | "kill" | number;

const own = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const;
const archs = ["x64", "arm64"] as const;
type Arch = (typeof archs)[number];

function programOf(arch: Arch): DataView {
  const bytes = seccompFilter(arch);
  if (bytes === null) throw new Error("There is no filter");
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
const programs = { x64: programOf("x64"), arm64: programOf("arm64") };

/** Runs the program as the kernel does; throws for what the kernel would not load. */
function run(arch: Arch, { arch: calling, nr, args = [] }: Call): Answer {
  const program = programs[arch];
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, nr, true);
  data.setUint32(4, calling, true);
  for (const [index, arg] of args.entries()) data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, arg), true);
  let accumulator = 0;
  for (let at = 0; ; at++) {
    const operand = program.getUint32(at * 8 + 4, true);
    const jump = (taken: boolean): number => program.getUint8(at * 8 + (taken ? 2 : 3));
    switch (program.getUint16(at * 8, true)) {
      case 0x20:
        if (operand % 4 !== 0) throw new Error("A load that is not aligned");
        accumulator = data.getUint32(operand, true);
        break;
      case 0x54:
        accumulator = (accumulator & operand) >>> 0;
        break;
      case 0x15:
        at += jump(accumulator === operand);
        break;
      case 0x35:
        at += jump(accumulator >= operand);
        break;
      case 0x45:
        at += jump((accumulator & operand) !== 0);
        break;
      case 0x06:
        if (operand === 0x7fff_0000) return "allow";
        if (operand === 0x8000_0000) return "kill";
        if (operand >>> 16 !== 5) throw new Error(`No answer: ${operand}`);
        return operand & 0xffff;
      default:
        throw new Error("An instruction that seccomp does not have");
    }
  }
}

const [EPERM, ENOSYS, EPROTONOSUPPORT, EAFNOSUPPORT] = [1, 38, 93, 97];
const native = (arch: Arch, name: SyscallName, ...args: (number | bigint)[]): Answer => {
  const nr = numberOf(name, arch === "x64" ? "x86_64" : "aarch64");
  if (nr === null) throw new Error(`There is no ${name} on ${arch}`);
  return run(arch, { arch: own[arch], nr, args: args.map(BigInt) });
};
const uint32 = fc.nat({ max: 0xffff_ffff });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const anyArgs = fc.array(uint64, { minLength: 6, maxLength: 6 });

/** What is refused, once more and by number: a slip in the tables shows here. */
const refused: Readonly<Record<Arch, ReadonlyMap<number, number>>> = {
  x64: new Map([
    ...[
      ...[250, 248, 249, 321, 323, 298, 425, 426, 427, 165, 166, 429, 428, 467, 430, 431, 432, 433, 442, 155, 161, 308],
      ...[304, 300, 246, 320, 175, 313, 176, 169, 167, 168, 163, 179, 443, 103, 170, 171, 164, 227, 305, 159, 153],
      ...[172, 173, 154, 279, 256],
    ].map((nr) => [nr, EPERM] as const),
    ...[435, 134, 156, 180, 212].map((nr) => [nr, ENOSYS] as const),
  ]),
  arm64: new Map([
    ...[
      ...[219, 217, 218, 280, 282, 241, 425, 426, 427, 40, 39, 429, 428, 467, 430, 431, 432, 433, 442, 41, 51, 268],
      ...[265, 262, 104, 294, 105, 273, 106, 142, 224, 225, 89, 60, 443, 116, 161, 162, 170, 112, 266, 171, 58],
      ...[239, 238],
    ].map((nr) => [nr, EPERM] as const),
    ...[435, 42, 18].map((nr) => [nr, ENOSYS] as const),
  ]),
};
/** Refused when they are aimed at process 1, by the arguments that name a process. */
const aimed = {
  ptrace: [1],
  process_vm_readv: [0],
  process_vm_writev: [0],
  pidfd_open: [0],
  kcmp: [0, 1],
} as const;
const inspected = [
  ...(["ioctl", "clone", "unshare", "personality", "socket", "socketpair"] as const),
  ...(Object.keys(aimed) as (keyof typeof aimed)[]),
];

describe.each(archs)("on %s", (arch) => {
  const architecture = arch === "x64" ? "x86_64" : "aarch64";
  const asked = new Set(inspected.map((name) => numberOf(name, architecture)));
  const withoutBit = (nr: number) => arch === "x64" && nr >= 512 && nr <= 547;

  test("the program is one that the kernel loads", () => {
    const program = programs[arch];
    const length = program.byteLength / 8;
    expect(Number.isInteger(length) && length <= 4096).toBe(true);
    for (let at = 0; at < length; at++) {
      const jumps = [0x15, 0x35, 0x45].includes(program.getUint16(at * 8, true));
      const furthest = jumps ? Math.max(program.getUint8(at * 8 + 2), program.getUint8(at * 8 + 3)) : 0;
      expect(at + 1 + furthest).toBeLessThanOrEqual(at === length - 1 ? length : length - 1);
    }
    expect(program.getUint16((length - 1) * 8, true)).toBe(0x06);
  });

  test("what is refused is refused whatever its arguments are", () => {
    fc.assert(
      fc.property(fc.constantFrom(...refused[arch]), anyArgs, ([nr, errno], args) => {
        expect(run(arch, { arch: own[arch], nr, args })).toBe(errno);
      }),
    );
    for (const [nr, errno] of refused[arch]) expect(run(arch, { arch: own[arch], nr })).toBe(errno);
  });

  test("every other number up to 1000 passes", () => {
    const strange: number[] = [];
    for (let nr = 0; nr <= 1000; nr++) {
      if (refused[arch].has(nr) || asked.has(nr) || withoutBit(nr)) continue;
      if (run(arch, { arch: own[arch], nr, args: [-1n, -1n, -1n, -1n, -1n, -1n] }) !== "allow") strange.push(nr);
    }
    expect(strange).toEqual([]);
  });

  test("every other number that an architecture could have passes, whatever its arguments are", () => {
    fc.assert(
      fc.property(fc.nat({ max: 0x3fff_ffff }), anyArgs, (nr, args) => {
        fc.pre(!refused[arch].has(nr) && !asked.has(nr) && !withoutBit(nr));
        expect(run(arch, { arch: own[arch], nr, args })).toBe("allow");
      }),
    );
  });

  test("a foreign architecture's calls end the process", () => {
    const foreign = fc.oneof(fc.constantFrom(0x4000_0003, 0x4000_0028, ...Object.values(own)), uint32);
    fc.assert(
      fc.property(foreign, uint32, anyArgs, (calling, nr, args) => {
        fc.pre(calling !== own[arch]);
        expect(run(arch, { arch: calling, nr, args })).toBe("kill");
      }),
    );
  });

  test.each([0x5412, 0x541c, 0x5423])("ioctl %j is refused by its lower half alone", (request) => {
    fc.assert(
      fc.property(uint32, (above) => {
        expect(native(arch, "ioctl", 0, (BigInt(above) << 32n) | BigInt(request))).toBe(EPERM);
      }),
    );
  });

  test("every other ioctl passes", () => {
    fc.assert(
      fc.property(uint64, uint64, (fd, request) => {
        fc.pre(![0x5412n, 0x541cn, 0x5423n].includes(request & 0xffff_ffffn));
        expect(native(arch, "ioctl", fd, request)).toBe("allow");
      }),
    );
  });

  test("new namespaces are refused, and nothing else of clone and unshare", () => {
    const bits = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000];
    for (const bit of bits) {
      expect([native(arch, "clone", bit | 17), native(arch, "unshare", bit)]).toEqual([EPERM, EPERM]);
      expect(native(arch, "clone", (1n << 40n) | BigInt(bit))).toBe(EPERM);
    }
    expect(native(arch, "unshare", 0x80)).toBe(EPERM);
    // The flags of a thread of glibc's, of fork, of vfork, and a signal whose number has the bit of a time namespace.
    for (const flags of [0x3d0f00, 0x1200011, 0x4111, 0x80 | 17]) expect(native(arch, "clone", flags)).toBe("allow");
    for (const flags of [0, 0x200, 0x400, 0x40000]) expect(native(arch, "unshare", flags)).toBe("allow");
  });

  test.each(Object.entries(aimed))(
    "%s is refused at process 1, by the lower half alone, and at nobody else",
    (name, at) => {
      const call = name as keyof typeof aimed;
      fc.assert(
        fc.property(anyArgs, uint32, fc.constantFrom(...at), (args, above, place) => {
          const aimedAt = args.with(place, (BigInt(above) << 32n) | 1n);
          expect(native(arch, call, ...aimedAt)).toBe(EPERM);
          fc.pre(at.every((one) => ((args[one] ?? 0n) & 0xffff_ffffn) !== 1n));
          expect(native(arch, call, ...args)).toBe("allow");
        }),
      );
      // A process traces itself (PTRACE_TRACEME), a child, or asks of itself.
      expect(native(arch, call, 0, 0, 0)).toBe("allow");
    },
  );

  test("a personality may be asked for, and changed where it does no harm", () => {
    for (const one of [0xffff_ffff, 0, 8, 0x20000, 0x20008, 0x40000, 0x40008])
      expect(native(arch, "personality", one)).toBe("allow");
    for (const one of [0x100000, 0x400000, 0x8000000, 0x2000000, 1, 6, 0x440000])
      expect(native(arch, "personality", one)).toBe(EPERM);
  });

  test("sockets are local, of the Internet, or of netlink", () => {
    const families = [1, 2, 10, 16];
    for (let one = 0; one < 64; one++) {
      const expected = families.includes(one) ? "allow" : EAFNOSUPPORT;
      for (const type of [1, 2, 3, 5, 0x80801])
        expect([native(arch, "socket", one, type), native(arch, "socketpair", one, type)]).toEqual([
          expected,
          expected,
        ]);
    }
    for (const flags of [0, 0x800, 0x80000]) expect(native(arch, "socket", 2, 10 | flags)).toBe(EAFNOSUPPORT);
    for (let protocol = 0; protocol < 32; protocol++)
      expect(native(arch, "socket", 16, 3, protocol)).toBe(
        [0, 4, 15, 16].includes(protocol) ? "allow" : EPROTONOSUPPORT,
      );
  });

  test("firejail is told every refused number, each with its error", () => {
    const [drop = "", ...others] = firejailSeccompFlags(arch) ?? [];
    const told = drop.replace("--seccomp.drop=", "").split(",").sort();
    const names = new Map([
      [EPERM, "EPERM"],
      [ENOSYS, "ENOSYS"],
    ]);
    expect(told).toEqual([...refused[arch]].map(([nr, errno]) => `$${nr}:${names.get(errno)}`).sort());
    expect(others).toContain("--protocol=unix,inet,inet6,netlink");
  });
});

test("x32 is not there", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0x4000_0000, max: 0xffff_fffe }), anyArgs, (nr, args) => {
      expect(run("x64", { arch: own.x64, nr, args })).toBe(ENOSYS);
    }),
  );
  for (let nr = 512; nr <= 547; nr++) expect(run("x64", { arch: own.x64, nr })).toBe(ENOSYS);
});

test("a call that a tracer has taken out passes", () => {
  for (const arch of archs) expect(run(arch, { arch: own[arch], nr: 0xffff_ffff })).toBe("allow");
});

test("no two names have one number", () => {
  for (const index of [0, 1] as const) {
    const numbers = Object.values(syscallNumbers).flatMap((pair) => pair[index] ?? []);
    expect(new Set(numbers).size).toBe(numbers.length);
  }
});

test.each(["ia32", "arm", "riscv64", "ppc64", "s390x", "loong64", "mips64el", ""])("there is none for %j", (arch) => {
  expect([architectureOf(arch), seccompFilter(arch), firejailSeccompFlags(arch)]).toEqual([null, null, null]);
});

/**
 * Which system calls a sandboxed command is refused: as a program for the kernel, and in firejail's words. Pure.
 *
 * A list of what is refused, not of what is allowed: a call that the list does not know passes, so that a program newer
 * than the list runs. Compared with Docker's default profile (moby, `profiles/seccomp`), flatpak's (`common/flatpak-run.c`),
 * systemd's groups (systemd.exec(5), SystemCallFilter=) and firejail's (`@default`).
 *
 * It counts on a PID namespace around the command, on `no_new_privs`, and on Linux 4.8 or later. There ptrace(2),
 * process_vm_readv(2), kcmp(2) and pidfd_getfd(2) reach nobody outside by themselves and go round no filter, so they pass:
 * debuggers, strace and the leak check of AddressSanitizer need them. But process 1 there is the sandbox program's own, and
 * holds descriptors that reach outside: at it, none of them may be aimed. It is a second lock on one door, no wall: to
 * this process's memory there is also a file in /proc, and no filter sees whose file is written.
 */

import { type Architecture, numberOf, type SyscallName } from "./syscalls.ts";

/** One `struct sock_filter` (linux/filter.h): code, jump if true, jump if false, operand. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

const errno = { EPERM: 1, ENOSYS: 38, EPROTONOSUPPORT: 93, EAFNOSUPPORT: 97 } as const;
type Errno = keyof typeof errno;

/** Refused whatever the arguments are. */
const refused: Readonly<Partial<Record<Errno, readonly SyscallName[]>>> = {
  // A program that gets ENOSYS takes another way; one that gets EPERM gives up.
  ENOSYS: [
    // Its flags are behind a pointer, where no filter sees them. glibc and others then use clone.
    "clone3",
    // What a kernel says that was built without them, as all are by now.
    ...(["uselib", "_sysctl", "nfsservctl", "lookup_dcookie"] as const),
  ],
  EPERM: [
    // No namespace separates keys: they are shared with everything of the same user.
    ...(["keyctl", "add_key", "request_key"] as const),
    // Large, young, and where most ways into the kernel were found. For io_uring it is what the kernel says where
    // kernel.io_uring_disabled is set: libuv and others then use epoll. An io_uring also goes round this filter.
    ...(["bpf", "userfaultfd", "perf_event_open", "io_uring_setup", "io_uring_enter", "io_uring_register"] as const),
    // Changing what the file system looks like, or reaching a file by its number instead of its path. Making such a
    // number (name_to_handle_at) tells nothing and passes.
    ...(["mount", "umount2", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig", "fsmount"] as const),
    ...(["fspick", "mount_setattr", "pivot_root", "chroot", "setns", "open_by_handle_at", "fanotify_init"] as const),
    // The machine's own: its kernel, memory, log, names and clock. Reading the clock's discipline goes with the latter,
    // because whether adjtimex reads or writes is behind a pointer.
    ...(["kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot"] as const),
    ...(["swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "sethostname", "setdomainname"] as const),
    ...(["settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "vhangup", "iopl", "ioperm"] as const),
    // Segments for 16- and 32-bit code, which does not run here.
    "modify_ldt",
    // Pages of other processes. A program's wishes for its own memory (mbind, set_mempolicy) pass.
    ...(["move_pages", "migrate_pages"] as const),
  ],
};

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET (linux/sched.h). */
const newNamespaces = 0x7e02_0000;
/** CLONE_NEWTIME; in the flags of clone this bit is a part of the signal's number. */
const newTimeNamespace = 0x80;

/** TIOCSTI and TIOCLINUX type into a terminal; TIOCSETD makes the kernel load a line discipline. */
const refusedIoctls = [0x5412, 0x541c, 0x5423];

/** PER_LINUX32, UNAME26 and ADDR_NO_RANDOMIZE: debuggers and ThreadSanitizer turn the last on for themselves. */
const allowedPersonality = 0x0006_0008;
const askPersonality = 0xffff_ffff;

const family = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
/** Routes and addresses (glibc's getifaddrs), sockets (ss), devices (libudev), and the generic one. */
const netlinkProtocols = [0, 4, 15, 16];
/** socket(AF_INET, SOCK_PACKET) is a packet socket by its oldest name; the upper bits of a type are flags. */
const [packetType, typeMask] = [10, 0xf];

/** AUDIT_ARCH_… of linux/audit.h. */
const auditArch: Readonly<Record<Architecture, number>> = { x86_64: 0xc000_003e, aarch64: 0xc000_00b7 };

// SECCOMP_RET_… of linux/seccomp.h
const allow: Instruction = [0x06, 0, 0, 0x7fff_0000];
const kill: Instruction = [0x06, 0, 0, 0x8000_0000];
const refuse = (name: Errno): Instruction => [0x06, 0, 0, 0x0005_0000 | errno[name]];

// Offsets in struct seccomp_data, in a little-endian order of bytes.
const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const loadNumber = load(0);
const loadArch = load(4);
/**
 * The lower half of an argument. Each that is looked at here is an int for the kernel, or has all its flags below:
 * comparing more would let through a number that only differs where the kernel does not look.
 */
const loadArgument = (index: number): Instruction => load(16 + 8 * index);

const and = (mask: number): Instruction => [0x54, 0, 0, mask];
const ifEqual = (value: number, ...body: Instruction[]): Instruction[] => [[0x15, 0, body.length, value], ...body];
const ifAnyBit = (mask: number, ...body: Instruction[]): Instruction[] => [[0x45, 0, body.length, mask], ...body];
const ifAtLeast = (value: number, ...body: Instruction[]): Instruction[] => [[0x35, 0, body.length, value], ...body];

/** The sandbox program's own process, by its number inside. */
const init = 1;
const notAtInit = (argument: number): readonly Instruction[] => [
  loadArgument(argument),
  ...ifEqual(init, refuse("EPERM")),
];

/** What a call with refused arguments is asked; each ends with an answer. */
const inspected: Readonly<Partial<Record<SyscallName, readonly Instruction[]>>> = {
  ioctl: [loadArgument(1), ...refusedIoctls.flatMap((request) => ifEqual(request, refuse("EPERM"))), allow],
  clone: [loadArgument(0), ...ifAnyBit(newNamespaces, refuse("EPERM")), allow],
  unshare: [loadArgument(0), ...ifAnyBit(newNamespaces | newTimeNamespace, refuse("EPERM")), allow],
  ptrace: [...notAtInit(1), allow],
  process_vm_readv: [...notAtInit(0), allow],
  process_vm_writev: [...notAtInit(0), allow],
  pidfd_open: [...notAtInit(0), allow],
  kcmp: [...notAtInit(0), ...notAtInit(1), allow],
  personality: [
    loadArgument(0),
    ...ifEqual(askPersonality, allow),
    ...ifAnyBit(~allowedPersonality >>> 0, refuse("EPERM")),
    allow,
  ],
  socket: [
    loadArgument(0),
    ...ifEqual(family.unix, allow),
    ...ifEqual(family.inet6, allow),
    ...ifEqual(
      family.inet,
      ...[loadArgument(1), and(typeMask)],
      ...[...ifEqual(packetType, refuse("EAFNOSUPPORT")), allow],
    ),
    ...ifEqual(
      family.netlink,
      loadArgument(2),
      ...[...netlinkProtocols.flatMap((protocol) => ifEqual(protocol, allow)), refuse("EPROTONOSUPPORT")],
    ),
    refuse("EAFNOSUPPORT"),
  ],
  socketpair: [
    loadArgument(0),
    ...Object.values(family).flatMap((value) => ifEqual(value, allow)),
    refuse("EAFNOSUPPORT"),
  ],
};

/**
 * The x32 numbers of x86_64: the same calls with this bit set, and from 512 to 547 those that have one of their own, which
 * kernels before 5.4 took without the bit (seccomp(2)). A kernel without x32 says ENOSYS.
 */
const x32Bit = 0x4000_0000;
const refuseX32: readonly Instruction[] = [
  // -1 is no number: a tracer sets it to have a call left out.
  ...ifEqual(0xffff_ffff, allow),
  ...ifAtLeast(x32Bit, refuse("ENOSYS")),
  ...ifAtLeast(512, [0x35, 1, 0, 548], refuse("ENOSYS")),
];

/** Node's name of an architecture (`process.arch`) as the kernel's; `null`: none whose numbers are known. */
export function architectureOf(arch: string): Architecture | null {
  return arch === "x64" ? "x86_64" : arch === "arm64" ? "aarch64" : null;
}

/**
 * The filter as `bwrap --seccomp FD` reads it: an array of `struct sock_filter`. Any other architecture's calls, such as
 * those of 32-bit programs, end the process by SIGSYS: one to which every call said no could not even exit.
 *
 * @param arch As `process.arch` names it
 * @returns `null` for an architecture whose numbers are not known
 *
 * @example
 * ```ts
 * seccompFilter(process.arch)?.length; // a multiple of 8
 * ```
 */
export function seccompFilter(arch: string): Uint8Array<ArrayBuffer> | null {
  const architecture = architectureOf(arch);
  if (architecture === null) return null;
  const number = (name: SyscallName) => numberOf(name, architecture);
  const program = [
    loadArch,
    [0x15, 1, 0, auditArch[architecture]] satisfies Instruction,
    kill,
    loadNumber,
    ...(architecture === "x86_64" ? refuseX32 : []),
    ...entries(inspected).flatMap(([name, body]) => when(number(name), body)),
    ...entries(refused).flatMap(([error, names]) => names.flatMap((name) => when(number(name), [refuse(error)]))),
    allow,
  ];
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  for (const [index, [code, ifTrue, ifFalse, operand]] of program.entries()) {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, ifTrue);
    bytes.setUint8(index * 8 + 3, ifFalse);
    bytes.setUint32(index * 8 + 4, operand, true);
  }
  return new Uint8Array(bytes.buffer);
}

function when(number: number | null, body: readonly Instruction[]): readonly Instruction[] {
  return number === null ? [] : ifEqual(number, ...body);
}

function entries<Name extends string, Value>(record: Readonly<Partial<Record<Name, Value>>>): [Name, Value][] {
  return Object.entries(record) as [Name, Value][];
}

/**
 * The same list for firejail 0.9.72 or later, `null` for an architecture whose numbers are not known.
 *
 * Each call is given by number and error: of names that it does not know firejail says nothing, and leaves them out; of
 * numbers too, unless they come with an error. `--restrict-namespaces` inspects clone and unshare and refuses clone3;
 * `--seccomp.block-secondary` refuses 32-bit programs, and personalities more strictly than the filter above.
 *
 * It is less than the filter: nothing refuses TIOCSTI, and every netlink protocol passes. And it holds only together with
 * `--caps.drop=all`: firejail's own process 1 in the sandbox has no filter, and root with its capabilities may write to
 * its memory.
 */
export function firejailSeccompFlags(arch: string): readonly string[] | null {
  const architecture = architectureOf(arch);
  if (architecture === null) return null;
  const drop = entries(refused).flatMap(([error, names]) =>
    names
      .map((name) => numberOf(name, architecture))
      .filter((number) => number !== null)
      .map((number) => `$${number}:${error}`),
  );
  return [
    `--seccomp.drop=${drop.join(",")}`,
    "--seccomp.block-secondary",
    "--seccomp-error-action=EPERM",
    "--restrict-namespaces",
    `--protocol=${Object.keys(family).join(",")}`,
  ];
}

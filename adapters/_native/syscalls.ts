/**
 * Linux's numbers of the system calls that a sandbox asks about, by architecture.
 *
 * From the kernel's own tables: `arch/x86/entry/syscalls/syscall_64.tbl` for x86_64 and `scripts/syscall.tbl` for aarch64
 * (`include/uapi/asm-generic/unistd.h` up to 6.10). A number is never given to another call, and from 424 on the tables
 * agree.
 */

/** The architectures whose numbers are known, by the name that the kernel has for them. */
export type Architecture = "x86_64" | "aarch64";

/** x86_64, then aarch64; `null`: not on this architecture. */
type Numbers = readonly [number | null, number | null];

export const syscallNumbers = {
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
  clone: [56, 220],
  ptrace: [101, 117],
  syslog: [103, 116],
  uselib: [134, null],
  personality: [135, 92],
  vhangup: [153, 58],
  modify_ldt: [154, null],
  pivot_root: [155, 41],
  _sysctl: [156, null],
  adjtimex: [159, 171],
  chroot: [161, 51],
  acct: [163, 89],
  settimeofday: [164, 170],
  mount: [165, 40],
  umount2: [166, 39],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, null],
  ioperm: [173, null],
  init_module: [175, 105],
  delete_module: [176, 106],
  quotactl: [179, 60],
  nfsservctl: [180, 42],
  lookup_dcookie: [212, 18],
  clock_settime: [227, 112],
  kexec_load: [246, 104],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  migrate_pages: [256, 238],
  unshare: [272, 97],
  move_pages: [279, 239],
  perf_event_open: [298, 241],
  fanotify_init: [300, 262],
  open_by_handle_at: [304, 265],
  clock_adjtime: [305, 266],
  setns: [308, 268],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  finit_module: [313, 273],
  kexec_file_load: [320, 294],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  pidfd_open: [434, 434],
  clone3: [435, 435],
  mount_setattr: [442, 442],
  quotactl_fd: [443, 443],
  open_tree_attr: [467, 467],
} as const satisfies Readonly<Record<string, Numbers>>;

export type SyscallName = keyof typeof syscallNumbers;

/** `null` where the architecture does not have this call. */
export function numberOf(name: SyscallName, architecture: Architecture): number | null {
  return syscallNumbers[name][architecture === "x86_64" ? 0 : 1];
}

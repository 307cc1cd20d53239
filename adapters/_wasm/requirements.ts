/** Pure: whether a binary can be run as a command under a plan, told before anything runs. */

import { RuntimeError } from "../../src/errors.ts";
import { type Binary, Malformed, readBinary } from "./binary.ts";

/** The functions of `wasi_snapshot_preview1`. Source: WebAssembly/WASI, phases/snapshot/docs.md. */
const preview1 = new Set(
  (
    "args_get args_sizes_get environ_get environ_sizes_get clock_res_get clock_time_get fd_advise fd_allocate fd_close " +
    "fd_datasync fd_fdstat_get fd_fdstat_set_flags fd_fdstat_set_rights fd_filestat_get fd_filestat_set_size " +
    "fd_filestat_set_times fd_pread fd_prestat_get fd_prestat_dir_name fd_pwrite fd_read fd_readdir fd_renumber fd_seek " +
    "fd_sync fd_tell fd_write path_create_directory path_filestat_get path_filestat_set_times path_link path_open " +
    "path_readlink path_remove_directory path_rename path_symlink path_unlink_file poll_oneoff proc_exit proc_raise " +
    "sched_yield random_get sock_accept sock_recv sock_send sock_shutdown"
  ).split(" "),
);

/** What a command of WASI 0.2 may ask for. Source: WebAssembly/WASI, wasi:cli/command@0.2. */
const preview2 = /^wasi:(?:io|clocks|cli|filesystem|sockets|random)\/[a-z0-9-]+@0\.2\.[0-9]+$/;
const commandExport = /^wasi:cli\/run@0\.2\.[0-9]+$/;

/**
 * @throws RuntimeError `not_executable` for what is no command, `policy_unenforceable` for one that takes more memory to
 *   begin with than it may have.
 */
export function checkBinary(bytes: Uint8Array, name: string): Binary {
  let binary: Binary;
  try {
    binary = readBinary(bytes);
  } catch (error) {
    if (error instanceof Malformed) throw refused(name, error.message);
    throw error;
  }
  const { kind, imports, exports, memories } = binary;
  if (kind === "module" && !exports.includes("_start"))
    throw refused(
      name,
      "it exports no _start, so it is a library: build it as a command (wasm32-wasip1, a program with main)",
    );
  if (kind === "component" && !exports.some((what) => commandExport.test(what)))
    throw refused(name, `it exports no wasi:cli/run@0.2, so it is no command: it exports ${listed(exports)}`);
  const unknown = imports
    .filter(({ module, name: what }) =>
      kind === "component" ? !preview2.test(what) : module !== "wasi_snapshot_preview1" || !preview1.has(what),
    )
    .map(({ module, name: what }) => (module === "" ? what : `${module}.${what}`));
  if (unknown.length > 0)
    throw refused(
      name,
      `it imports ${listed(unknown)}, and a guest is given WASI preview 1 or WASI 0.2 and nothing else`,
    );
  if (memories.some(({ shared }) => shared))
    throw refused(name, "its memory is shared between threads, and a guest has one");
  return binary;
}

/** @throws RuntimeError `policy_unenforceable` */
export function checkMemory({ memories }: Binary, name: string, limit: number | null): void {
  const least = memories.reduce((sum, { minimum }) => sum + minimum, 0);
  if (limit === null || least <= limit) return;
  const message = `Module ${name} begins with ${mib(least)} of memory, and ${mib(limit)} is the limit: raise runtime.wasm.max_memory_mb, or the tool's memory_limit`;
  throw new RuntimeError("policy_unenforceable", message, { backend: "wasm" });
}

function mib(bytes: number): string {
  return `${Math.ceil(bytes / (1024 * 1024))} MiB`;
}

const mostListed = 5;

function listed(names: readonly string[]): string {
  if (names.length === 0) return "nothing";
  const more = names.length - mostListed;
  return names.slice(0, mostListed).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function refused(name: string, why: string): RuntimeError {
  return new RuntimeError("not_executable", `Module ${name} cannot be run: ${why}`, { backend: "wasm" });
}

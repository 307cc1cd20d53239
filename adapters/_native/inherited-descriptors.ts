/** Descriptors that this process was started with and that its children would get as well. */

import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";

/** How many files this process may have open, and how many it may let a child have. */
export function openFilesLimit(): { readonly soft: number; readonly hard: { readonly mostOpenFiles?: number } } {
  try {
    const line = /^Max open files\s+(\S+)\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"));
    const [soft, hard] = [Number(line?.[1]), Number(line?.[2])];
    return { soft: soft > 0 ? soft : Infinity, hard: hard > 0 ? { mostOpenFiles: hard } : {} };
  } catch {
    return { soft: Infinity, hard: {} };
  }
}

/** O_CLOEXEC as proc_pid_fdinfo(5) shows it, in octal. */
const closeOnExec = 0o2000000;

/** What takes the places from 3 on in a child of Node's. */
export interface DescriptorMask {
  readonly places: readonly ("ignore" | number)[];
  close(): void;
}

/**
 * `/dev/null` where a descriptor would be inherited. Node marks what it opens itself, but not what its own parent left open;
 * Bun closes all of it, and Deno offers no way.
 *
 * @param inherited what {@link findInherited} found
 */
export function maskDescriptors(inherited: readonly number[]): DescriptorMask {
  const opened: number[] = [];
  const close = () => {
    for (const fd of opened.splice(0)) closeSync(fd);
  };
  // One for each place: Deno takes a descriptor over when it passes it on, and has none for a second place.
  const openNothing = () => {
    const fd = openSync("/dev/null", "r+");
    opened.push(fd);
    return fd;
  };
  const length = Math.max(2, ...inherited) - 2;
  try {
    const places = Array.from({ length }, (_, index) => (inherited.includes(index + 3) ? openNothing() : "ignore"));
    return { places, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** The descriptors that a child would get besides the standard ones. */
export function findInherited(): readonly number[] {
  // Beyond its limit a process cannot put anything in a descriptor's place.
  const most = openFilesLimit().soft;
  try {
    return readdirSync("/proc/self/fd")
      .map(Number)
      .filter((fd) => fd > 2 && fd < most && passesOn(fd));
  } catch {
    return [];
  }
}

function passesOn(fd: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // The one by which the list itself was read is closed again.
    return false;
  }
}

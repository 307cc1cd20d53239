/** A descriptor on which a program waits until it is let through. */

import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, unlinkSync, writeSync } from "node:fs";

export interface Gate {
  /** To be handed to the program, which reads one byte of it. */
  readonly fd: number;
  open(): void;
  /** Whoever still waits goes on waiting. */
  close(): void;
}

/**
 * @param path where it is for a moment
 * @throws Error when it cannot be made
 */
export function makeGate(path: string): Gate {
  execFileSync("mkfifo", ["-m", "600", path], { stdio: "ignore", env: { PATH: "/usr/bin:/bin" } });
  try {
    // Open for both, so that opening waits for nobody, and closing this end is no end of file for the other.
    const fd = openSync(path, constants.O_RDWR);
    return { fd, open: () => void writeSync(fd, "x"), close: () => closeSync(fd) };
  } finally {
    unlinkSync(path);
  }
}

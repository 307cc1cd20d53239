/** Sends signals, and never to anybody else: not to group 0, not to everybody, not to the host itself. */

/** What is sent to end a command. */
export type StopSignal = "SIGTERM" | "SIGKILL";

/** Signals one process. Answers whether it was there. */
export function signalProcess(pid: number, signal: StopSignal): boolean {
  return send(pid, pid, signal);
}

/** Signals every process of the group that `leader` leads. Answers whether there was one. */
export function signalGroup(leader: number, signal: StopSignal): boolean {
  return send(-leader, leader, signal);
}

/** Whether the group still has a member. */
export function groupExists(leader: number): boolean {
  return send(-leader, leader, 0);
}

function send(target: number, pid: number, signal: StopSignal | 0): boolean {
  // kill(2) takes 0 for the caller's own group, -1 for everybody, and 1 is init.
  if (!Number.isSafeInteger(pid) || pid <= 1 || pid === process.pid) return false;
  try {
    process.kill(target, signal);
    return true;
  } catch (error) {
    // Whoever may not be signalled is there all the same.
    return signal === 0 && error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

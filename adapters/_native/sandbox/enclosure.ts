/** One execution's sandbox: what it is started with, and what is known of it at its end. */

import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { holdDirectory } from "../../../host/held-directory.ts";
import { pause } from "../../../host/pause.ts";
import { isSameProcess, type ProcessName } from "../../../host/process-name.ts";
import { findProcess, hasNoChild, isInitBelow } from "../../../host/process-table.ts";
import { RuntimeError } from "../../../src/errors.ts";
import type { ExitKind } from "../../../src/types.ts";
import type { ByteSource } from "../drain.ts";
import { noTail, type Tail, withoutComplaint, withTail } from "./command-stderr.ts";
import type { Evidence } from "./denials.ts";
import type { SandboxArtifact } from "./lower-sandbox.ts";
import { notExecutable, unseen } from "./needed-files.ts";
import { type NetworkCounters, openNetworkCounters } from "./network-counters.ts";
import type { SandboxProgram, SandboxStatus, Wrapping } from "./sandbox-program.ts";

type EnclosureSource = Pick<SandboxArtifact, "program" | "ownDirectory" | "filter">;

/** The parts of one run that are not in its argv. */
export interface Enclosure {
  /** For the places from 3 on in the child. */
  readonly descriptors: readonly number[];
  /** The child has its own copies. */
  handOver(): void;
  /** Passes stderr on without what the sandbox program itself complained about. */
  onlyTheCommands(stderr: ByteSource, exited: Promise<ExitKind>): ByteSource;
  /** Reads what the program told of the run: after its exit, before anything below is asked. */
  settle(): SandboxStatus;
  /**
   * What the exit means.
   *
   * @throws RuntimeError when it is the sandbox that failed, and the command was not run.
   */
  ending(exit: ExitKind, stopped: boolean): Promise<ExitKind>;
  /** Whether the command is there. One that is not when all is to end never will be. */
  hasBegun(): boolean;
  /** Whether something inside may still be on its way out, after the monitor has gone. */
  isEmpty(): boolean;
  /** The first process inside, if there is one yet. */
  initPid(): number | null;
  /** Nothing is to come of the run but this, however it ends. */
  refuse(error: RuntimeError): void;
  /** Looks for the first process inside from now on and, where the command has a network of its own, opens its counters. */
  watch(having: { readonly network: boolean }): void;
  /** The first process inside as soon as it was seen, or at the end; `null`: it had gone by then. */
  readonly init: Promise<ProcessName | null>;
  /** What was seen of the run; to be asked before it is let go. */
  evidence(): Pick<Evidence, "stderr" | "unroutable">;
  /** The run is over, and nothing more is asked. */
  release(): void;
  /** Nothing was started. */
  abandon(): void;
}

const mostStatus = 65_536;
/** Of what is to be written to, a first byte: with it there is room for as much as any status has. */
const room = Buffer.from("\n");
/** How long a complaint, or the end after it, is waited for. */
const complaintMs = 250;
/** How soon, and how often, a look is taken at whether the sandbox has its first process; and how often after many looks. */
const peekMs = 4;
const manyPeeks = 25;
const latePeekMs = 100;

/** @throws Error when the files it needs cannot be opened: nothing stays open then. */
export function openEnclosure(
  { program, ownDirectory, filter }: EnclosureSource,
  id: string,
  { inputs, holds }: Pick<Wrapping, "inputs" | "holds"> = { inputs: [] },
): Enclosure {
  // A directory in a temporary place can be tidied away meanwhile.
  mkdirSync(ownDirectory, { recursive: true, mode: 0o700 });
  const opened: number[] = [];
  const keep = (fd: number) => {
    opened.push(fd);
    return fd;
  };
  let statusFd: number;
  try {
    keep(filter === null ? openSync("/dev/null", "r") : openInput(join(ownDirectory, `${id}.filter`), filter));
    statusFd = keep(openInput(join(ownDirectory, `${id}.status`), room));
    for (const input of inputs) keep(openInput(join(ownDirectory, `${id}.input`), Buffer.from(input)));
    if (holds !== undefined) keep(holdDirectory(holds).fd ?? openSync(holds, "r"));
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    throw error;
  }
  let complained = "";
  let refusal: RuntimeError | null = null;
  let neverBegan = false;
  const stderrOver = Promise.withResolvers<void>();
  let status: SandboxStatus | null = null;
  let counters: NetworkCounters | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let tail: Tail = noTail;
  const peek = () => {
    const buffer = Buffer.alloc(Math.min(fstatSync(statusFd).size, mostStatus));
    return program.readStatus(buffer.toString("utf8", 0, readSync(statusFd, buffer, 0, buffer.length, 0)));
  };
  let init: ProcessName | null = null;
  const seen = Promise.withResolvers<ProcessName | null>();
  const settle = () => {
    if (status !== null) return status;
    clearTimeout(timer);
    status = peek();
    closeSync(statusFd);
    if (init === null && status.initPid !== null) init = nameInit(status.initPid);
    seen.resolve(init);
    return status;
  };
  /** The namespace is there before the command is: the mounts are made in between. */
  const watch = (network: boolean, peeks = 1) => {
    timer = setTimeout(
      () => {
        const { initPid } = peek();
        if (initPid === null) return watch(network, peeks + 1);
        if (network) counters = openNetworkCounters(initPid);
        init = nameInit(initPid);
        if (init !== null) seen.resolve(init);
      },
      peeks > manyPeeks ? latePeekMs : peekMs,
    );
  };
  return {
    descriptors: opened,
    handOver: () => {
      for (const fd of opened) if (fd !== statusFd) closeSync(fd);
    },
    onlyTheCommands: (stderr, exited) => {
      const { complaint } = program;
      const own =
        complaint === null
          ? stderr
          : withoutComplaint(stderr, complaint, async (text) => {
              // Who complains ends at once, and by itself. Whoever goes on, or was killed, is the command, in words of the same kind.
              const exit = await Promise.race([exited, pause(complaintMs)]);
              if (exit === undefined || !hasFailed(exit) || status === null || status.ended) return false;
              complained += text;
              return true;
            });
      tail = withTail(own, stderrOver.resolve);
      return tail.source;
    },
    watch: ({ network }) => {
      if (program.namesInit) watch(network);
    },
    initPid: () => (status ?? peek()).initPid,
    refuse: (error) => {
      refusal = error;
    },
    init: seen.promise,
    evidence: () => ({ stderr: tail.text(), unroutable: counters?.unroutable() ?? null }),
    release: () => counters?.close(),
    settle,
    ending: async (exit, stopped) => {
      if (refusal !== null) throw refusal;
      if (neverBegan && !settle().ended) return { kind: "signaled", signal: "SIGTERM", number: 15 };
      // Whoever was killed from outside could not tell any more: everything inside died with it.
      if (settle().ended || exit.kind !== "exited") return exit;
      if (stopped) return { kind: "signaled", signal: "SIGTERM", number: 15 };
      // What it complained about may still be in the pipe.
      await Promise.race([stderrOver.promise, pause(complaintMs)]);
      throw sandboxError(program, complained + settle().said);
    },
    hasBegun: () => {
      const { initPid, ended } = status ?? peek();
      // The command is the first child of the first process inside; where that is not named, a mark says when it begins.
      neverBegan = program.namesInit ? initPid === null || hasNoChild(initPid) : !ended;
      return !neverBegan;
    },
    isEmpty: () => status === null || init === null || !isSameProcess(init),
    abandon: () => {
      for (const fd of opened) closeSync(fd);
    },
  };
}

/** How bubblewrap ends after a complaint (utils.c, `die`). */
function hasFailed(exit: ExitKind): boolean {
  return exit.kind === "exited" && exit.code === 1;
}

/** By its number alone it could be anybody's by now. */
function nameInit(pid: number): ProcessName | null {
  const found = findProcess(pid);
  return found !== null && !found.zombie && isInitBelow(pid) ? { pid, startedAt: found.startedAt } : null;
}

function sandboxError({ name, complaint }: SandboxProgram, complained: string): RuntimeError {
  const said = complaint === null ? complained.trim() : complained.trim().replaceAll(complaint, "");
  const missing = /^execvp (.*): No such file or directory/m.exec(said)?.[1];
  if (missing !== undefined) return unseen(missing);
  const denied = /^execvp (.*): (.*)/m.exec(said);
  if (denied !== null) return notExecutable(`${denied[1]}: ${denied[2]}`);
  if (/Argument list too long/.test(said)) {
    const remedy = "pass them by stdin or as a file";
    const tooLong = `Arguments and environment together are longer than the system takes: ${remedy}`;
    return new RuntimeError("argument_list_too_long", tooLong, { backend: "native" });
  }
  const message = `The sandbox (${name}) could not be made, and the command was not run: ${said === "" ? "it gave no reason" : said}`;
  return new RuntimeError("start_failed", message, { backend: "native" });
}

/** `O_TMPFILE` of open(2), which Node does not name. */
const nameless = constants.O_DIRECTORY | 0o20000000;

/**
 * A file that goes when it is closed, whatever becomes of this process: in memory, or at `path` for a moment. It is read, and
 * written to further, from its beginning.
 */
function openInput(path: string, content: Uint8Array): number {
  const { O_RDWR, O_CREAT, O_EXCL } = constants;
  try {
    return filled(openSync("/dev/shm", O_RDWR | nameless, 0o600), content);
  } catch {
    // Not every machine has it, and anybody can fill it.
  }
  const fd = openSync(path, O_RDWR | O_CREAT | O_EXCL, 0o600);
  try {
    unlinkSync(path);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return filled(fd, content);
}

/** Writing by position moves no offset. */
function filled(fd: number, content: Uint8Array): number {
  try {
    for (let at = 0; at < content.length; ) at += writeSync(fd, content, at, content.length - at, at);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Starts a process in a sandbox: a spawn around a spawn. */

import { join } from "node:path";
import { messageOf, RuntimeError } from "../../../src/errors.ts";
import type { Child, FailedSpawn, Spawn } from "../child.ts";
import { signalProcess } from "../signals.ts";
import { findDenials, hasFailed } from "./denials.ts";
import { type Enclosure, openEnclosure } from "./enclosure.ts";
import { type Gate, makeGate } from "./gate.ts";
import type { SandboxArtifact } from "./lower-sandbox.ts";
import { beginMounting, type Mounting } from "./mounting.ts";
import { neededFiles, refuseUnmet } from "./needed-files.ts";
import type { SandboxedCommand, Wrapping } from "./sandbox-program.ts";
import { sightIn } from "./visible.ts";

/** A program that is gone, or may not be run any more, is not the command. What is too long is the command's all the same. */
function ofTheSandbox(error: unknown, name: string): unknown {
  if (error instanceof RuntimeError) return error;
  if (error instanceof Error && "code" in error && error.code === "E2BIG") return error;
  const message = `The sandbox (${name}) could not be started, and the command was not run: ${messageOf(error)}`;
  return new RuntimeError("start_failed", message, { backend: "native", cause: error });
}

/** What is started in a sandbox. */
export interface SandboxedStart {
  /** Names the execution; no two at one time have the same. */
  readonly id: string;
  /** The command's own file, whatever stands in front of it. */
  readonly file: string;
}

/** A sandbox ready to be made, with its words. */
interface Preparation extends Pick<Wrapping, "words" | "env"> {
  readonly enclosure: Enclosure;
  readonly mounting: Mounting;
  readonly gate: Gate | null;
  /** Nothing of it runs any more. */
  end(): void;
}

/** @throws Error when something is missing: nothing is left open then. */
function prepare(
  { view, ...source }: SandboxArtifact,
  command: SandboxedCommand,
  { id, file }: SandboxedStart,
): Preparation {
  const { program, ownDirectory } = source;
  const cannot = program.cannot(view);
  if (cannot !== null) throw new Error(cannot);
  const needs = program.looksAhead ? [file, ...neededFiles(file, view.workingDir, sightIn(view))] : [];
  if (!program.looksAhead && command.argv[0] !== file) refuseUnmet(file, view.workingDir, sightIn(view));
  const letGo = source.settings.hold();
  let mounting: Mounting | null = null;
  let gate: Gate | null = null;
  const end = () => {
    mounting?.end();
    letGo();
  };
  try {
    mounting = beginMounting(view, { ownDirectory, canHold: program.canHold });
    if (mounting.isHeld) gate = makeGate(join(ownDirectory, `${id}.gate`));
    const wrapping = program.wrap(view, { ...command, needs, isHeld: mounting.isHeld });
    return { ...wrapping, mounting, gate, end, enclosure: openEnclosure(source, id, wrapping) };
  } catch (error) {
    gate?.close();
    end();
    throw error;
  }
}

export function sandboxed(spawn: Spawn, artifact: SandboxArtifact, start: SandboxedStart): Spawn {
  const { view, program } = artifact;
  return (request): Child | FailedSpawn => {
    let prepared: Preparation;
    try {
      prepared = prepare(artifact, { argv: [request.file, ...request.args], env: request.env }, start);
    } catch (error) {
      return { pid: undefined, failure: Promise.resolve(ofTheSandbox(error, program.name)) };
    }
    const { words, env, enclosure, mounting, gate, end } = prepared;
    const [file, ...args] = words;
    const descriptors = [...enclosure.descriptors, ...(gate === null ? [] : [gate.fd])];
    const child = spawn({ ...request, file, args, env, descriptors });
    if (child.pid === undefined) {
      gate?.close();
      end();
      enclosure.abandon();
      return { pid: undefined, failure: child.failure.then((error) => ofTheSandbox(error, program.name)) };
    }
    enclosure.handOver();
    enclosure.watch({ network: !view.network });
    let isOver = false;
    const exited = child.exited.then((exit) => {
      isOver = true;
      enclosure.settle();
      end();
      return exit;
    });
    mounting.follow({ initPid: enclosure.initPid, isOver: () => isOver });
    if (gate !== null) {
      void mounting.check().then((wrong) => {
        if (wrong === null) gate.open();
        else if (!isOver) {
          enclosure.refuse(mismade(wrong));
          // It may be just ending.
          signalProcess(child.pid, "SIGKILL");
        }
        gate.close();
      });
    }
    return {
      ...child,
      exited,
      stderr: enclosure.onlyTheCommands(child.stderr, exited),
      monitor: {
        init: enclosure.init,
        ending: enclosure.ending,
        hasBegun: enclosure.hasBegun,
        isEmpty: enclosure.isEmpty,
        findings: (exit) => {
          const found = hasFailed(exit) ? findDenials({ view, exit, ...enclosure.evidence() }) : [];
          enclosure.release();
          return found;
        },
      },
    };
  };
}

function mismade(wrong: string): RuntimeError {
  const message = `The sandbox is not what it was to be, and the command was not run. ${wrong}: does another command work in a directory above?`;
  return new RuntimeError("policy_unenforceable", message, { backend: "native" });
}

/** Starts a process in a sandbox: a spawn around a spawn. */

import { messageOf, RuntimeError } from "../../../src/errors.ts";
import type { Child, FailedSpawn, Spawn } from "../child.ts";
import { findDenials } from "./denials.ts";
import { type Enclosure, openEnclosure } from "./enclosure.ts";
import type { SandboxArtifact } from "./lower-sandbox.ts";
import type { Wrapping } from "./sandbox-program.ts";

/** A program that is gone, or may not be run any more, is not the command. What is too long is the command's all the same. */
function ofTheSandbox(error: unknown, name: string): unknown {
  if (error instanceof Error && "code" in error && error.code === "E2BIG") return error;
  const message = `The sandbox (${name}) could not be started, and the command was not run: ${messageOf(error)}`;
  return new RuntimeError("start_failed", message, { backend: "native", cause: error });
}

/** @param id names the execution; no two at one time have the same */
export function sandboxed(spawn: Spawn, { view, ...source }: SandboxArtifact, id: string): Spawn {
  return (request): Child | FailedSpawn => {
    let enclosure: Enclosure;
    let words: Wrapping["words"];
    let env: Wrapping["env"];
    try {
      source.settings.refresh();
      const cannot = source.program.cannot(view);
      if (cannot !== null) throw new Error(cannot);
      const command = { argv: [request.file, ...request.args] as const, env: request.env };
      const wrapping = source.program.wrap(view, command);
      ({ words, env } = wrapping);
      enclosure = openEnclosure(source, id, wrapping.inputs);
    } catch (error) {
      return { pid: undefined, failure: Promise.resolve(ofTheSandbox(error, source.program.name)) };
    }
    const [file, ...args] = words;
    const child = spawn({
      ...request,
      file,
      args,
      env,
      descriptors: enclosure.descriptors,
    });
    if (child.pid === undefined) {
      enclosure.abandon();
      return { pid: undefined, failure: child.failure.then((error) => ofTheSandbox(error, source.program.name)) };
    }
    enclosure.handOver();
    enclosure.watch({ network: !view.network });
    const exited = child.exited.then((exit) => {
      enclosure.settle();
      return exit;
    });
    return {
      ...child,
      exited,
      stderr: enclosure.onlyTheCommands(child.stderr, exited),
      monitor: {
        init: enclosure.init,
        ending: enclosure.ending,
        isEmpty: enclosure.isEmpty,
        findings: (exit) => findDenials({ view, exit, ...enclosure.evidence() }),
      },
    };
  };
}

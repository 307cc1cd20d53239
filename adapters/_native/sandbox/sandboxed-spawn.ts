/** Starts a process in a sandbox: a spawn around a spawn. */

import type { Child, FailedSpawn, Spawn } from "../child.ts";
import { findDenials } from "./denials.ts";
import { type Enclosure, openEnclosure } from "./enclosure.ts";
import type { SandboxArtifact } from "./lower-sandbox.ts";

/** @param id names the execution; no two at one time have the same */
export function sandboxed(spawn: Spawn, { view, ...source }: SandboxArtifact, id: string): Spawn {
  return (request): Child | FailedSpawn => {
    const { words, env } = source.program.wrap(view, request.env);
    const [file, ...flags] = words;
    let enclosure: Enclosure;
    try {
      source.settings.refresh();
      enclosure = openEnclosure(source, id);
    } catch (error) {
      return { pid: undefined, failure: Promise.resolve(error) };
    }
    const child = spawn({
      ...request,
      file,
      args: [...flags, request.file, ...request.args],
      env,
      descriptors: enclosure.descriptors,
    });
    if (child.pid === undefined) {
      enclosure.abandon();
      return child;
    }
    enclosure.handOver();
    if (!view.network) enclosure.watchNetwork();
    const exited = child.exited.then((exit) => {
      enclosure.settle();
      return exit;
    });
    return {
      ...child,
      exited,
      stderr: enclosure.onlyTheCommands(child.stderr, exited),
      monitor: {
        ending: enclosure.ending,
        isEmpty: enclosure.isEmpty,
        findings: (exit) => findDenials({ view, exit, ...enclosure.evidence() }),
      },
    };
  };
}

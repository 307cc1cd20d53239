/** The embedded engine: jco's JavaScript of a module, run by this very runtime in a process of its own. */

import { RuntimeError } from "../../src/errors.ts";
import type { Engine, EngineCommand, EngineRun, GuestEnd } from "./engine.ts";
import { hostProgram, jcoCommand, transpileCommand } from "./jco/command.ts";
import { hostFailureExitCode, hostFailurePrefix, memoryPrefix, trapExitCode, trapPrefix } from "./jco/ending.ts";
import type { RunDescription } from "./jco/run-description.ts";
import type { JsRuntime } from "./this-runtime.ts";
import { outOfMemory, trapped } from "./trap.ts";

export interface JcoParts {
  readonly runtime: JsRuntime["name"];
  readonly executable: string;
  /** Of jco. */
  readonly version: string;
}

/** Part of the name of what is kept: changes with what this program makes of jco's files. */
const form = 1;

export function jcoEngine(parts: JcoParts): Engine {
  const { executable, version } = parts;
  return {
    ...{ name: "jco", program: executable, version },
    ...{ keepsReadOnly: true, opensDescriptors: false, handsOver: true },
    refuses: () => null,
    keyOf: ({ digest }) => `jco-${version}-${form}-${digest}`,
    prepared: (bytes) => bytes,
    compile: (kind) => ({ argv: transpileCommand(parts, kind), env: {} }),
    command: (run) => commandOf(parts, run),
    ending: endingOf,
  };
}

function commandOf({ runtime, executable }: JcoParts, run: EngineRun): EngineCommand {
  const { plan, artifact, preopens, handover } = run;
  const { memoryBytes } = plan.limits;
  const description: RunDescription = {
    ...{ directory: artifact, args: plan.argv, env: plan.env, preopens },
    ...{ network: plan.network === "all", memoryLimitBytes: memoryBytes },
  };
  const argv = jcoCommand({
    ...{ runtime, executable, program: hostProgram(), descriptionFile: handover ?? "", description },
    memoryLimitBytes: memoryBytes,
  });
  return { argv, env: {}, handover: JSON.stringify(description) };
}

/** Whether a line of the host program is the last that was said, or the one before it. */
const trapLine = new RegExp(`(?:^|\\n)${trapPrefix}(.*)\\n(${memoryPrefix}.*\\n)?$`);
const failureLine = new RegExp(`(?:^|\\n)${hostFailurePrefix}(.*)\\n$`);

/** What V8 says before it aborts: in Node, and in Deno. */
const ownHeapIsFull = /JavaScript heap out of memory|Fatal JavaScript out of memory/;

function endingOf({ exit, lastWords }: GuestEnd): ReturnType<Engine["ending"]> {
  if (exit.kind === "signaled") return ownHeapIsFull.test(lastWords) ? outOfMemory : exit;
  if (exit.kind !== "exited") return exit;
  const trap = exit.code === trapExitCode ? trapLine.exec(lastWords) : null;
  if (trap !== null) return trap[2] === undefined ? trapped(trap[1] ?? "", lastWords) : outOfMemory;
  const failure = exit.code === hostFailureExitCode ? failureLine.exec(lastWords) : null;
  if (failure === null) return exit;
  // A guest could have said so itself, after all that it has done.
  throw new RuntimeError("start_failed", `Engine jco could not run the guest: ${failure[1]}`, {
    ...{ backend: "wasm", started: "yes" },
  });
}

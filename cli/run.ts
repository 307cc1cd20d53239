/** `run`: a command, live or as one JSON object. */

import { createRuntime } from "../mod.ts";
import { encodeOutput } from "../src/codec.ts";
import { RuntimeError } from "../src/errors.ts";
import type { ExecuteOptions, ExecutionOutput, Runtime } from "../src/runtime-types.ts";
import type { Warning } from "../src/types.ts";
import { describeOutcome, exitCodeOf, inputOutputExit } from "./exit-code.ts";
import { openInput } from "./input.ts";
import { Interrupted, type Interrupts, watchInterrupts } from "./interrupts.ts";
import { runLive } from "./live.ts";
import { createMessages, describeFailure } from "./messages.ts";
import { stderr, stdout } from "./output.ts";
import { readConfig } from "./read-config.ts";
import { chosenBy, inCurrentDirectory, placesIn, type RequestFlags, readRequest } from "./request-flags.ts";
import { saveFiles } from "./save-files.ts";
import type { CommandWords } from "./words.ts";

/** A run on its way. */
interface Run {
  readonly words: CommandWords;
  readonly flags: RequestFlags;
  readonly options: ExecuteOptions;
  readonly interrupts: Interrupts;
  /** Where commands work: see `placesOfCommands`. */
  readonly places: readonly string[];
}

/** Answers what to exit with. */
export async function run(words: CommandWords, flags: RequestFlags): Promise<number> {
  const interrupts = watchInterrupts();
  try {
    const said: Warning[] = [];
    const log = (warning: Warning) => void (warning.code === "backend_chosen" || said.push(warning));
    const { runtime, config, places, request } = await interrupts.orNever(
      readConfig(flags).then(async (config) => {
        const places = placesIn(flags, config);
        const request = readOptions(flags, places);
        return { config, places, request, runtime: await createRuntime(config, { log, ...chosenBy(flags) }) };
      }),
    );
    try {
      const options = { ...inCurrentDirectory(request, flags, config), signal: interrupts.signal };
      const run: Run = { words, flags, options, interrupts, places };
      return await (flags.json === true ? runForJson(runtime, run) : runForPeople(runtime, run, said));
    } finally {
      await runtime.close();
    }
  } catch (error) {
    if (interrupts.exitCode !== null && isInterruption(error)) {
      if (flags.json === true) await interrupts.orStuck(tellInterruption(error)).catch(() => {});
      return interrupts.exitCode;
    }
    throw error;
  } finally {
    interrupts.stop();
  }
}

function isInterruption(error: unknown): boolean {
  return error instanceof Interrupted || (error instanceof RuntimeError && error.code === "cancelled_before_start");
}

/** With `--json` there is an object on stdout, whatever happens, unless stdout itself is stuck. */
async function tellInterruption(error: unknown): Promise<void> {
  if (error instanceof RuntimeError) await stdout().write(`${JSON.stringify(describeFailure(error).json)}\n`);
}

function readOptions(flags: RequestFlags, places: readonly string[]): ExecuteOptions {
  if (flags.maxOutput !== undefined && flags.json !== true) {
    throw new RuntimeError(
      "invalid_request",
      "--max-output is for --json: without it everything is handed on and nothing is kept",
    );
  }
  const options = readRequest(flags, places);
  const stdin = openInput(flags.stdin, places);
  return stdin === undefined ? options : { ...options, stdin };
}

async function runForJson(runtime: Runtime, { words, flags, options, interrupts, places }: Run): Promise<number> {
  const output = await runtime.execute(words.command, words.args, options);
  const unsaved = saveFiles(output.files, flags.output ?? [], { all: false, places });
  const warnings = [...output.warnings, ...unsaved];
  const json = JSON.stringify(encodeOutput({ ...output, warnings }));
  await interrupts.orStuck(stdout().write(`${json}\n`));
  return exitCode(output, interrupts, unsaved);
}

async function runForPeople(
  runtime: Runtime,
  { words, flags, options, interrupts, places }: Run,
  said: readonly Warning[],
): Promise<number> {
  const err = stderr();
  const quiet = flags.quiet === true;
  const { output, midLine } = await runLive(runtime.stream(words.command, words.args, options), {
    ...{ out: stdout(), err, interrupts, quiet },
  });
  const unsaved = saveFiles(output.files, flags.output ?? [], { all: true, places });
  const messages = createMessages(err, { quiet, midLine });
  for (const warning of [...said, ...output.warnings, ...unsaved]) await messages.warn(warning);
  const message = describeOutcome(output);
  if (message !== null) await messages.fail(message);
  return exitCode(output, interrupts, unsaved);
}

/** A result that could not be kept must not pass for a success. */
function exitCode(output: ExecutionOutput, interrupts: Interrupts, unsaved: readonly Warning[]): number {
  const code = exitCodeOf(output, interrupts.exitCode);
  return code === 0 && unsaved.length > 0 ? inputOutputExit : code;
}

/** From words to an exit code: parses, runs the command that was named, and says what went wrong. */

import { type Command, CommanderError } from "commander";
import { RuntimeError } from "../src/errors.ts";
import { checkWords } from "./argv.ts";
import { readerLeftExit } from "./exit-code.ts";
import { createMessages, describeFailure } from "./messages.ts";
import { ReaderLeft, stderr, stdout } from "./output.ts";
import { createProgram } from "./program.ts";

/** EX_USAGE of sysexits(3). */
const usageExit = 64;

/** `words` are the program's arguments. Settles when everything is written; never rejects. */
export async function main(words: readonly string[]): Promise<number> {
  const help: string[] = [];
  let exitCode = 0;
  const program = createProgram({
    write: (text) => help.push(text),
    finish: (code) => {
      exitCode = code;
    },
  });
  try {
    checkWords(words);
    await program.parseAsync([...words], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof ReaderLeft) return readerLeftExit;
    if (!(error instanceof CommanderError)) return await report(error, isJsonAsked(program));
    if (error.exitCode === 0) return await tell(help, 0);
    if (error.code === "commander.help") return await tell(help, usageExit);
    return await report(usageError(error.message, program, words), hasJsonFlag(words));
  }
}

/** Help is an answer where it was asked for, and a complaint where something was missing. */
async function tell(help: readonly string[], exitCode: number): Promise<number> {
  const output = exitCode === 0 ? stdout() : stderr();
  await output.write(help.join("")).catch(() => {});
  return exitCode;
}

/** The parser's words in ours. */
function usageError(message: string, program: Command, words: readonly string[]): RuntimeError {
  const [what = "", advice = ""] = message.replace(/^error: /, "").split("\n");
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}`.replace(/\.$/, "");
  const named = program.commands.find((command) => command.name() === words[0]);
  const help = `see prx-runtime ${named === undefined ? "" : `${named.name()} `}--help`;
  const didYouMean = advice.replace(/^\(D(.*)\)$/, "d$1");
  return new RuntimeError("invalid_request", `${sentence}: ${didYouMean === "" ? help : didYouMean}`);
}

async function report(error: unknown, json: boolean): Promise<number> {
  const failure = describeFailure(error);
  // Where nobody can be told, the exit code has to do.
  if (json)
    await stdout()
      .write(`${JSON.stringify(failure.json)}\n`)
      .catch(() => {});
  else await createMessages(stderr()).fail(failure.message);
  return failure.exitCode;
}

/** Whether the command that ran was given `--json`; the same word among the arguments of what it ran is not ours. */
function isJsonAsked(command: Command): boolean {
  return command.opts()["json"] === true || command.commands.some(isJsonAsked);
}

/** Where the words were not understood, the ones before `--` tell. */
function hasJsonFlag(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return words.slice(0, end === -1 ? words.length : end).includes("--json");
}

/** `complete -- WORDS`: what may stand under the cursor. The scripts of `completion` ask this. */

import { RootCommand } from "@bomb.sh/tab";
import type { Command, Option } from "commander";
import { definition } from "../adapters/fragments.ts";
import { loadConfig } from "../mod.ts";
import { toolNames } from "../src/config.ts";
import { findCursor } from "./cursor.ts";
import { stdout } from "./output.ts";
import { printedBy } from "./printed.ts";

/** What a shell does when none of our words fits (the directives of cobra, which @bomb.sh/tab speaks). */
const directives = { files: ":0", nothing: ":4", directories: ":16" } as const;

const fileFlags = ["--config", "--stdin", "--file", "--output"];

/** Answers 0, and prints nothing but completions, whatever is wrong. */
export async function complete(program: Command, words: readonly string[]): Promise<number> {
  const cursor = findCursor(program, words);
  if (cursor.kind === "theirs") {
    await stdout().write(`${directives.files}\n`);
    return 0;
  }
  const values = cursor.kind === "value" ? await valuesOf(cursor.option, cursor.flags) : [];
  const lines = printedBy(() => describeProgram(program, values).parse([...words]));
  const own = lines.filter((line) => !/^:\d+$/.test(line));
  await stdout().write([...own, directiveFor(cursor.kind === "value" ? cursor.option : null), ""].join("\n"));
  return 0;
}

function directiveFor(option: Option | null): string {
  const name = option?.long ?? "";
  if (name === "--cwd") return directives.directories;
  return fileFlags.includes(name) ? directives.files : directives.nothing;
}

/** What a flag can be given, as far as that is known. */
async function valuesOf(option: Option, flags: readonly string[]): Promise<readonly string[]> {
  switch (option.long) {
    case "--backend":
      return definition.backends.filter((name) => name !== "auto" && name !== "memory");
    case "--tool":
      return configuredTools(flags);
    case "--stdin":
      return ["inherit", "none"];
    default:
      return option.argChoices ?? [];
  }
}

/** A wrong configuration has no tools: it is told when it is used. */
async function configuredTools(flags: readonly string[]): Promise<readonly string[]> {
  const at = flags.findIndex((flag) => flag === "--config" || flag === "-c");
  const path = at === -1 ? flags.find((flag) => flag.startsWith("--config="))?.slice(9) : flags[at + 1];
  return loadConfig(path).then(
    (config) => [...toolNames(config)],
    () => [],
  );
}

/** The program in the terms of @bomb.sh/tab. `values` are those of the flag under the cursor. */
function describeProgram(program: Command, values: readonly string[]): RootCommand {
  const root = new RootCommand();
  const describe = (command: Command, path: string) => {
    const help = command.createHelp();
    const part = path === "" ? root : root.command(path, command.description());
    for (const option of help.visibleOptions(command)) {
      const name = option.long?.slice(2) ?? "";
      const alias = option.short?.slice(1);
      if (option.required) {
        part.option(name, option.description, (offer) => values.forEach((value) => void offer(value, "")), alias);
      } else part.option(name, option.description, alias);
    }
    for (const argument of command.registeredArguments) {
      part.argument(argument.name(), (offer) => argument.argChoices?.forEach((choice) => void offer(choice, "")));
    }
    for (const next of help.visibleCommands(command))
      describe(next, path === "" ? next.name() : `${path} ${next.name()}`);
  };
  describe(program, "");
  return root;
}

/** Where in the program's commands the cursor is, for completion. */

import type { Command, Option } from "commander";

/** What the word under the cursor is. */
export type Cursor =
  /** The name of a command or flag, or an argument of ours. */
  | { readonly kind: "ours" }
  /** What a flag takes. */
  | { readonly kind: "value"; readonly option: Option; readonly flags: readonly string[] }
  /** A word of the command that is to be run. */
  | { readonly kind: "theirs" };

/** `words` end with the one under the cursor, empty where nothing is typed yet. */
export function findCursor(program: Command, words: readonly string[]): Cursor {
  let command = program;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    const isLast = index === words.length - 1;
    if (word === "--" && !isLast) return isRunner(command) ? { kind: "theirs" } : { kind: "ours" };
    const option = optionOf(command, word);
    if (option !== undefined) {
      const flags = words.slice(0, index);
      if (word.includes("=")) {
        if (isLast) return { kind: "value", option, flags };
      } else if (option.required && !isLast) {
        index += 1;
        if (index === words.length - 1) return { kind: "value", option, flags };
      }
      continue;
    }
    if (word.startsWith("-")) continue;
    const next = command.commands.find((one) => one.name() === word);
    if (next !== undefined && !isLast) command = next;
    else if (isRunner(command)) return { kind: "theirs" };
  }
  return { kind: "ours" };
}

/** What follows the first operand of these belongs to somebody else. */
function isRunner(command: Command): boolean {
  return command.registeredArguments.some(({ variadic }) => variadic);
}

function optionOf(command: Command, word: string): Option | undefined {
  if (!word.startsWith("-")) return undefined;
  const [name] = word.split("=");
  return command.options.find(({ short, long }) => word === short || name === long);
}

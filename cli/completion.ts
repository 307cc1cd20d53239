/** `completion SHELL`: a script by which the shell asks `complete` for words. */

import { script } from "@bomb.sh/tab";
import { bashScript } from "./completion-bash.ts";
import { stdout } from "./output.ts";
import { printedBy } from "./printed.ts";

/** Answers 0. */
export async function completion(shell: string): Promise<number> {
  const text = shell === "bash" ? bashScript : printedBy(() => script(shell, "prx-runtime", "prx-runtime")).join("\n");
  await stdout().write(`${text.trimEnd()}\n`);
  return 0;
}

/** The whole corpus, in one order. */

import { beginningCases } from "./beginning.ts";
import type { CorpusCase } from "./case.ts";
import { compilerCases } from "./compilers.ts";
import { fileCases } from "./files.ts";
import { gitCases } from "./git.ts";
import { javascriptCases } from "./javascript.ts";
import { networkCases } from "./network.ts";
import { placeCases } from "./place.ts";
import { processCases } from "./processes.ts";
import { pythonCases } from "./python.ts";
import { redirectCases } from "./redirects.ts";
import { shellCases } from "./shell.ts";
import { textCases } from "./text.ts";

/** Every ordinary command, by its theme. */
export const corpus: Readonly<Record<string, readonly CorpusCase[]>> = {
  beginning: beginningCases,
  shell: shellCases,
  redirects: redirectCases,
  text: textCases,
  files: fileCases,
  place: placeCases,
  processes: processCases,
  network: networkCases,
  git: gitCases,
  python: pythonCases,
  javascript: javascriptCases,
  compilers: compilerCases,
};

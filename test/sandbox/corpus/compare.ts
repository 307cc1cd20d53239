/** Runs one command in two places, from the same beginning, and says what came out differently. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isOnPath } from "../../fixtures/needed.ts";
import { isPatient } from "../../fixtures/whole.ts";
import type { CorpusCase } from "./case.ts";
import { type Tree, treeOf } from "./tree.ts";

/** What came of a command. */
export interface Observation {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly exitCode: number | null;
  /** `"completed"`, in what other way it ended, or the code of the error by which it did not begin. */
  readonly outcome: string;
}

/** Runs a case in a directory that holds its files. */
export type RunCase = (asked: CorpusCase, directory: string) => Promise<Observation>;

/** An observation, and what is in the directory afterwards. */
export interface Ending extends Observation {
  readonly tree: Tree;
}

/** Why the case cannot be asked of this user on this machine, or `null`. */
export function obstacle({ slow, needs = [], probe }: CorpusCase): string | null {
  if (slow && !isPatient) return "it takes minutes, and is asked where PRX_WHOLE is set";
  const missing = needs.filter((name) => !isOnPath(name));
  if (missing.length > 0) return `this user finds no ${missing.join(", no ")} on PATH`;
  if (probe === undefined) return null;
  try {
    execFileSync("bash", ["-c", probe.line], { stdio: "ignore", cwd: tmpdir() });
    return null;
  } catch {
    return probe.otherwise;
  }
}

/**
 * Runs a case in every one of these places. Each finds a fresh directory at the same path, so that a path in an output or in
 * a file is no difference.
 */
export async function endings(asked: CorpusCase, runs: readonly RunCase[]): Promise<readonly Ending[]> {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), "corpus-")));
  const directory = join(parent, asked.directory ?? "work");
  const found: Ending[] = [];
  try {
    for (const run of runs) {
      prepare(directory, asked);
      found.push({ ...(await run(asked, directory)), tree: treeOf(directory, asked.ignores) });
      rmSync(directory, { recursive: true, force: true });
    }
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
  return found;
}

function prepare(directory: string, { files = {} }: CorpusCase): void {
  mkdirSync(directory);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
}

/** How the case's own claim is missed, or `null`. A case that fails everywhere alike shows nothing. */
export function missed({ exits = 0 }: CorpusCase, { outcome, exitCode, ...streams }: Ending): string | null {
  if (outcome === exits || (outcome === "completed" && exitCode === exits)) return null;
  return `It was to exit with ${exits}, and ${outcome} with ${exitCode}${shown(streams)}`;
}

/** What is different, precisely, or `null`. */
export function difference({ differs }: CorpusCase, plain: Ending, other: Ending): string | null {
  const parts: string[] = [];
  for (const part of ["outcome", "exitCode"] as const) {
    if (plain[part] !== other[part]) parts.push(`${part}: ${plain[part]} became ${other[part]}`);
  }
  if (differs === undefined) parts.push(...lines("stdout", text(plain.stdout), text(other.stdout)));
  const paths = new Set([...plain.tree.keys(), ...other.tree.keys()]);
  for (const path of [...paths].sort()) {
    const [before, after] = [plain.tree.get(path) ?? "nothing", other.tree.get(path) ?? "nothing"];
    if (before !== after) parts.push(`${path}: ${before} became ${after}`);
  }
  return parts.length === 0 ? null : `${parts.join("\n")}${shown(other)}`;
}

const shownLines = 12;

/** The lines that only one of the two has, by their number. */
function lines(name: string, before: string, after: string): readonly string[] {
  if (before === after) return [];
  const [left, right] = [before.split("\n"), after.split("\n")];
  const different = Array.from({ length: Math.max(left.length, right.length) }, (_, index) => index)
    .filter((index) => left[index] !== right[index])
    .map((index) => `${name}:${index + 1}: ${quote(left[index])} became ${quote(right[index])}`);
  const more = different.length - shownLines;
  return more > 0 ? [...different.slice(0, shownLines), `${name}: and ${more} lines more`] : different;
}

const quote = (line: string | undefined) => (line === undefined ? "nothing" : JSON.stringify(line.slice(0, 300)));
/** One character for each byte: two streams are the same text only if they are the same bytes. */
const text = (bytes: Uint8Array) => new TextDecoder("latin1").decode(bytes);
const shown = ({ stderr }: Pick<Observation, "stderr">) =>
  stderr.length === 0 ? "" : `\nstderr: ${new TextDecoder().decode(stderr).trim().slice(-1500)}`;

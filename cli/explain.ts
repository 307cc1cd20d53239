/** `explain`: what `run` would do, for people or as JSON. Runs nothing. */

import { createRuntime } from "../mod.ts";
import { encodeExplanation } from "../src/codec.ts";
import { errorCodes } from "../src/errors.ts";
import type { Candidate, ClauseReport, ExecuteOptions, Explanation } from "../src/runtime-types.ts";
import type { ExecutionPlan, Grade, Limits } from "../src/types.ts";
import { formatSize } from "../src/units.ts";
import { formatSeconds } from "./exit-code.ts";
import { openInput } from "./input.ts";
import { type Output, type Style, stdout } from "./output.ts";
import { readConfig } from "./read-config.ts";
import { chosenBy, inCurrentDirectory, placesIn, type RequestFlags, readRequest } from "./request-flags.ts";
import { type Cell, formatTable } from "./table.ts";
import type { CommandWords } from "./words.ts";

/** Answers what to exit with: 77 where `run` would refuse. */
export async function explain({ command, args }: CommandWords, flags: RequestFlags): Promise<number> {
  const config = await readConfig(flags);
  const places = placesIn(flags, config);
  const request = readRequest(flags, places);
  const stdin = openInput(flags.stdin, places);
  const located = inCurrentDirectory(request, flags, config);
  const options: ExecuteOptions = stdin === undefined ? located : { ...located, stdin };
  const runtime = await createRuntime(config, chosenBy(flags));
  try {
    const explanation = await runtime.explain(command, args, options);
    const out = stdout();
    if (flags.json === true) await out.write(`${JSON.stringify(encodeExplanation(explanation))}\n`);
    else await out.write(formatExplanation(explanation, out));
    return explanation.refused === null ? 0 : errorCodes.policy_unenforceable.exit;
  } finally {
    await runtime.close();
  }
}

type Painter = Pick<Output, "paint">;

/** For people. Holds names of variables, never their values. */
export function formatExplanation(explanation: Explanation, out: Painter): string {
  const { plan, lowering, clauses, refused, warnings, candidates, addedEnv } = explanation;
  const title = (text: string) => `\n${out.paint("bold", text)}\n`;
  const env = [...Object.keys(plan.env).sort(), ...addedEnv.map((name) => `${name} (added by the platform)`)];
  const indented = lowering
    .split("\n")
    .map((line) => `  ${line}\n`)
    .join("");
  const parts = [
    `${out.paint("bold", "Plan")}\n${formatTable(planRows(plan), out)}`,
    `${title("Environment (values redacted)")}${env.length === 0 ? "  none\n" : env.map((name) => `  ${name}\n`).join("")}`,
    `${title(`What ${plan.backend} makes of it`)}${indented}`,
    `${title("Policy")}${formatClauses(clauses, out)}`,
    `${title("Backends")}${formatCandidates(candidates, out)}`,
    ...(warnings.length === 0
      ? []
      : [`${title("Warnings")}${warnings.map(({ message }) => `  ${out.paint("yellow", message)}\n`).join("")}`]),
    `${title("Verdict")}  ${refused === null ? out.paint("green", "It would run") : out.paint("red", `It would be refused: ${refused}`)}\n`,
  ];
  return parts.join("");
}

function planRows(plan: ExecutionPlan): readonly (readonly Cell[])[] {
  const { limits } = plan;
  const rows: (readonly [string, string | null])[] = [
    ["backend", plan.backend],
    ["tool", plan.tool],
    ["command", plan.argv.map((word) => JSON.stringify(word)).join(" ")],
    ["working directory", plan.workingDir ?? "a private one, removed afterwards"],
    ["stdin", plan.stdin],
    ["image", plan.image],
    ["module", plan.module],
    [
      "granted directories",
      plan.grants.map(({ host, guest, writable }) => `${guest} is ${host}${writable ? ", writable" : ""}`).join("; ") ||
        null,
    ],
    ["files in", plan.files.map(({ path, bytes }) => `${path} (${bytes} bytes)`).join(", ") || null],
    ["files out", plan.outputs.join(", ") || null],
    ["time limit", limits.timeoutMs === 0 ? "none" : formatSeconds(limits.timeoutMs)],
    ["output kept", `${formatSize(limits.maxOutputBytes)} of each stream`],
    ["limits", formatLimits(limits)],
    ["network", plan.network],
    ["file system", plan.filesystem],
    ["privilege", plan.privilege],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [[[name, "dim"], value] as const]));
}

function formatLimits({ memoryBytes, cpus, cpuTimeMs, pids, openFiles }: Limits): string {
  const parts = [
    memoryBytes === null ? null : `memory ${formatSize(memoryBytes)}`,
    cpus === null ? null : `${cpus} cores`,
    cpuTimeMs === null ? null : `processor time ${formatSeconds(cpuTimeMs)}`,
    pids === null ? null : `${pids} processes`,
    openFiles === null ? null : `${openFiles} open files`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? "none" : parts.join(", ");
}

const gradeStyles: Readonly<Record<Grade, Style>> = {
  enforced: "green",
  stronger: "green",
  weaker: "yellow",
  impossible: "red",
};

/** Every clause with its verdict, one a line. */
function formatClauses(clauses: readonly ClauseReport[], out: Painter): string {
  return formatTable(
    clauses.map(({ clause, demanded, accepted, verdict }): readonly Cell[] => [
      clause,
      demanded ? "demanded" : ["not demanded", "dim"],
      formatGrade(verdict.grade),
      accepted ? verdict.because : [`${verdict.because}: refused`, "red"],
    ]),
    out,
  );
}

export function formatGrade(grade: Grade): Cell {
  return [grade, gradeStyles[grade]];
}

/** Every backend with its probe, one a line. */
export function formatCandidates(candidates: readonly Candidate[], out: Painter): string {
  return formatTable(
    candidates.map(({ backend, chosen, availability, probeMs, note }): readonly Cell[] => [
      chosen ? ["→", "bold"] : " ",
      chosen ? [backend, "bold"] : backend,
      availability.available ? ["works", "green"] : ["does not work", "red"],
      [formatSeconds(probeMs), "dim"],
      note,
    ]),
    out,
  );
}

/** `doctor`: which backends and sandboxes work here, which backend is used, and what to do about the others. */

import process from "node:process";
import { definition } from "../adapters/fragments.ts";
import { createRuntime, type Inspection, inspectBackends, locateConfig } from "../mod.ts";
import { parseConfig } from "../src/config/toml.ts";
import { asRuntimeError, errorCodes } from "../src/errors.ts";
import { formatCandidates, formatGrade } from "./explain.ts";
import { type Output, stdout } from "./output.ts";
import { type Cell, formatTable } from "./table.ts";
import { readVersion } from "./version.ts";

interface DoctorFlags {
  readonly config?: string | true | undefined;
  readonly json?: string | true | undefined;
}

/** The configuration file, as far as it got. */
interface FoundFile {
  readonly path: string | null;
  /** What is wrong with it, or `null`. */
  readonly problem: string | null;
  readonly config: unknown;
}

/** A sandbox for local processes, tried here; `problem` is `null` where it works. */
interface TriedSandbox {
  readonly name: string;
  readonly problem: string | null;
}

/** All that is told. */
export interface Report {
  readonly version: string;
  readonly runtime: string;
  readonly platform: string;
  readonly file: Omit<FoundFile, "config">;
  readonly inspection: Inspection;
  readonly sandboxes: readonly TriedSandbox[];
  readonly notes: readonly string[];
}

/** Answers what to exit with: 0 where the configured backend works, 78 for a wrong configuration, else 69. */
export async function doctor({ config, json }: DoctorFlags): Promise<number> {
  const { config: read, ...file } = await readFile(typeof config === "string" ? config : undefined);
  const notes: string[] = [];
  const inspection = await inspectBackends(read, { log: ({ message }) => void notes.push(message) });
  const report: Report = {
    ...{ version: readVersion(), runtime: runtimeName(), file, inspection, notes },
    sandboxes: await Promise.all(["bubblewrap", "firejail"].map(trySandbox)),
    platform: `${process.platform} ${process.arch}`,
  };
  const out = stdout();
  await out.write(json === true ? `${JSON.stringify(reportJson(report))}\n` : formatReport(report, out));
  if (file.problem !== null) return errorCodes.config_invalid.exit;
  return inspection.chosen === null ? errorCodes.backend_unavailable.exit : 0;
}

/** A wrong file keeps nobody from hearing which backends work. */
async function readFile(path: string | undefined): Promise<FoundFile> {
  let where: string | null = path ?? null;
  try {
    const { found } = await locateConfig(path);
    where = found?.path ?? null;
    const config = found === null ? {} : parseConfig(definition, found.text, { origin: found.path });
    return { path: where, problem: null, config };
  } catch (error) {
    return { path: where, problem: asRuntimeError(error).message, config: {} };
  }
}

/** Whatever is configured: it is told what there is to choose. */
async function trySandbox(backend: string): Promise<TriedSandbox> {
  try {
    const config = { runtime: { backend: "native" }, security: { sandbox: { backend } } };
    await (await createRuntime(config)).close();
    return { name: backend, problem: null };
  } catch (error) {
    return { name: backend, problem: asRuntimeError(error).message };
  }
}

function runtimeName(): string {
  const { bun, deno, node } = process.versions as Readonly<Record<string, string | undefined>>;
  if (bun !== undefined) return `Bun ${bun}`;
  return deno === undefined ? `Node ${node}` : `Deno ${deno}`;
}

/** For people. */
export function formatReport(report: Report, out: Pick<Output, "paint">): string {
  const { version, runtime, platform, file, inspection, sandboxes, notes } = report;
  const { configured, refused, backends } = inspection;
  const title = (text: string) => `\n${out.paint("bold", text)}\n`;
  const facts: readonly (readonly Cell[])[] = [
    [["prx-runtime", "dim"], version],
    [["runs on", "dim"], `${runtime}, ${platform}`],
    [["configuration", "dim"], file.path ?? "none found: everything has its default"],
    [["backend", "dim"], file.problem === null ? configured : `${configured} (by default: the file cannot be used)`],
  ];
  const usable = backends.flatMap(({ backend, availability, clauses }) => {
    if (clauses === null || !availability.available) return [];
    const head = `${title(`What ${backend} keeps`)}  ${out.paint("dim", availability.details)}\n`;
    const rows = clauses.map(({ clause, verdict }) => [clause, formatGrade(verdict.grade), verdict.because]);
    return [head + formatTable(rows, out)];
  });
  const wrong = [file.problem, refused].filter((problem) => problem !== null);
  return [
    formatTable(facts, out),
    `${title("Backends")}${formatCandidates(backends, out)}`,
    ...usable,
    `${title("Sandboxes for native")}${formatTable(sandboxes.map(sandboxRow), out)}`,
    ...(notes.length === 0 ? [] : [`${title("Notes")}${notes.map((note) => `  ${note}\n`).join("")}`]),
    title("Verdict"),
    ...(wrong.length === 0
      ? [`  ${out.paint("green", `Commands run on ${inspection.chosen}`)}\n`]
      : wrong.map((problem) => `  ${out.paint("red", problem.replaceAll("\n", "\n  "))}\n`)),
  ].join("");
}

function sandboxRow({ name, problem }: TriedSandbox): readonly Cell[] {
  return [name, problem === null ? ["works", "green"] : ["does not work", "red"], problem ?? ""];
}

function reportJson({ version, runtime, platform, file, inspection, sandboxes, notes }: Report): unknown {
  const { configured, chosen, refused, backends } = inspection;
  return {
    ...{ version, runtime, platform, config: file, configured, chosen, refused },
    backends: backends.map(({ backend, availability, probeMs, note, clauses }) => {
      const probe = { backend, chosen: backend === chosen, ...availability, probe_ms: probeMs, note };
      return { ...probe, clauses: clauses?.map(({ clause, verdict }) => ({ clause, ...verdict })) ?? null };
    }),
    sandboxes: sandboxes.map(({ name, problem }) => ({ name, available: problem === null, problem })),
    notes,
  };
}

/** `tools`: what the configuration names, which modules there are, and what one of them is and asks for. */

import { loadModules } from "../adapters/registry.ts";
import { createSystemHost } from "../host/system-host.ts";
import { loadConfig } from "../mod.ts";
import { errorCodes, messageOf } from "../src/errors.ts";
import { formatSize } from "../src/units.ts";
import { stdout } from "./output.ts";
import { type Cell, formatTable } from "./table.ts";

type OpenModules = Awaited<ReturnType<typeof loadModules>>;
type ModuleReport = Awaited<ReturnType<ReturnType<OpenModules>["inspect"]>>;

interface ToolsFlags {
  readonly config?: string | true | undefined;
  readonly json?: string | true | undefined;
}

/** One that is configured, or a module that only lies there. */
interface Listed {
  readonly name: string;
  readonly type: "command" | "wasm" | "module";
  /** The program, or the module. */
  readonly runs: string;
  /** Of a module that is there. */
  readonly digest: string | null;
  readonly problem: string | null;
}

const read = (config: ToolsFlags["config"]) => loadConfig(typeof config === "string" ? config : undefined);

/** Answers 0. */
export async function listTools({ config: file, json }: ToolsFlags): Promise<number> {
  const config = await read(file);
  const modules = (await loadModules())(config, createSystemHost());
  const found = async (written: string): Promise<Pick<Listed, "digest" | "problem">> => {
    try {
      return await modules.inspect(written);
    } catch (error) {
      return { digest: null, problem: messageOf(error) };
    }
  };
  const tools = Object.entries(config.tools.custom).map(async ([name, tool]): Promise<Listed> => {
    if (tool.type === "wasm") return { name, type: "wasm", runs: tool.module, ...pick(await found(tool.module)) };
    return { name, type: "command", runs: [tool.command, ...tool.args].join(" "), digest: null, problem: null };
  });
  const others = modules
    .list()
    .map(async (name): Promise<Listed> => ({ name, type: "module", runs: `${name}.wasm`, ...pick(await found(name)) }));
  const listed = await Promise.all([...tools, ...others]);
  const out = stdout();
  if (json === true) await out.write(`${JSON.stringify({ module_path: modules.directory, tools: listed })}\n`);
  else if (listed.length === 0)
    await out.write(`No tool is configured, and there is no module in ${modules.directory}\n`);
  else await out.write(formatTable(listed.map(rowOf), out));
  return 0;
}

function pick({ digest, problem }: Pick<Listed, "digest" | "problem">): Pick<Listed, "digest" | "problem"> {
  return { digest, problem };
}

function rowOf({ name, type, runs, digest, problem }: Listed): readonly Cell[] {
  const state: Cell = problem === null ? [digest ?? "", "dim"] : [problem, "red"];
  return [[name, "bold"], type, runs, state];
}

/** Answers 126 where it cannot be run. */
export async function inspectTool(name: string, { config: file, json }: ToolsFlags): Promise<number> {
  const config = await read(file);
  const tool = Object.hasOwn(config.tools.custom, name) ? config.tools.custom[name] : undefined;
  const modules = (await loadModules())(config, createSystemHost());
  const report = await modules.inspect(tool?.type === "wasm" ? tool.module : name);
  const out = stdout();
  if (json === true) await out.write(`${JSON.stringify(reportJson(report))}\n`);
  else await out.write(formatTable(rowsOf(report), out));
  return report.problem === null ? 0 : errorCodes.not_executable.exit;
}

function reportJson({ memoryBytes, ...report }: ModuleReport): unknown {
  return { ...report, memory_bytes: memoryBytes };
}

function rowsOf(report: ModuleReport): readonly (readonly Cell[])[] {
  const { path, digest, kind, world, memoryBytes, wants, imports, exports, problem } = report;
  const rows: readonly (readonly [string, Cell])[] = [
    ["file", path],
    ["digest", digest],
    ["kind", kind ?? "neither a module nor a component"],
    ["world", world ?? "none that is known"],
    ["memory", formatSize(memoryBytes)],
    ["wants", wants.length === 0 ? "nothing" : wants.join(", ")],
    ["exports", exports.join(", ")],
    ...imports.map((what, index): readonly [string, Cell] => [index === 0 ? "imports" : "", what]),
    ["can be run", problem === null ? ["yes", "green"] : [problem, "red"]],
  ];
  return rows.map(([name, value]) => [[name, "dim"], value]);
}

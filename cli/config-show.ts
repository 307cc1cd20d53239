/** `config show`: the configuration that holds, without its secrets. */

import { definition } from "../adapters/fragments.ts";
import { type Configuration, loadConfig } from "../mod.ts";
import { dotted } from "../src/config/problems.ts";
import { redactConfig } from "../src/config/redact.ts";
import { showConfig } from "../src/config/show.ts";
import { defaultConfig, writtenKeys } from "../src/config.ts";
import { stdout } from "./output.ts";

interface ShowFlags {
  readonly config?: string | true | undefined;
  readonly written?: string | true | undefined;
  readonly defaults?: string | true | undefined;
  readonly json?: string | true | undefined;
}

/** Answers 0. */
export async function showConfiguration({ config, written, defaults, json }: ShowFlags): Promise<number> {
  const path = typeof config === "string" ? config : undefined;
  const read = defaults === true ? defaultConfig(definition) : await loadConfig(path);
  const isOnlyWritten = written === true;
  await stdout().write(json === true ? `${asJson(read, isOnlyWritten)}\n` : asToml(read, isOnlyWritten));
  return 0;
}

function asToml(config: Configuration, isOnlyWritten: boolean): string {
  const toml = showConfig(definition, config);
  if (!isOnlyWritten) return toml;
  const blocks = toml
    .trimEnd()
    .split("\n\n")
    .map((block) => block.split("\n").filter((line) => !line.startsWith("# ")))
    // A table all of whose keys have their defaults is only a name.
    .filter((lines) => lines.some((line) => !line.startsWith("[")));
  return blocks.map((lines) => `${lines.join("\n")}\n`).join("\n");
}

function asJson(config: Configuration, isOnlyWritten: boolean): string {
  const redacted: unknown = redactConfig(definition, config);
  return JSON.stringify(isOnlyWritten ? (pick(redacted, writtenKeys(config), []) ?? {}) : redacted, null, 2);
}

/** The keys that were written, in their tables; `undefined` for a table without any. */
function pick(value: unknown, written: ReadonlySet<string>, path: readonly string[]): unknown {
  if (path.length > 0 && written.has(dotted(path))) return value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const kept = Object.entries(value)
    .map(([name, part]) => [name, pick(part, written, [...path, name])] as const)
    .filter(([, part]) => part !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

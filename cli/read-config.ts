/** The configuration that a command line means. */

import { definition } from "../adapters/fragments.ts";
import { type Configuration, locateConfig, RuntimeError, type SandboxChoice } from "../mod.ts";
import { defaultConfig } from "../src/config.ts";

/** The flags that have a say in it. */
export interface ConfigFlags {
  readonly config?: string;
  readonly sandbox?: SandboxChoice;
}

/**
 * @throws RuntimeError `config_invalid`, also for a file that was only found, where the command line asks for a sandbox: a
 *   command that worked in one may have made it, and it could take back what is asked for.
 */
export async function readConfig({ config, sandbox }: ConfigFlags): Promise<Configuration> {
  // Searched once: what was judged is what is parsed, whatever stands in its place meanwhile.
  const { found } = await locateConfig(config);
  if (sandbox !== undefined && found?.origin === "project") {
    const what = `--sandbox is asked for, and ${found.path} was found in the working directory, where a sandboxed command may have made it`;
    throw new RuntimeError("config_invalid", `${what}: name it by --config if it is yours, or remove it`);
  }
  if (found === null) return defaultConfig(definition);
  const { parseConfig } = await import("../src/config/toml.ts");
  return parseConfig(definition, found.text, { origin: found.path, file: found.path });
}

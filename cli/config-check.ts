/** `config check`: whether a configuration file is right, and every problem where it is not. */

import { definition } from "../adapters/fragments.ts";
import { locateConfig } from "../mod.ts";
import { parseConfig } from "../src/config/toml.ts";
import { stdout } from "./output.ts";

/**
 * Answers 0.
 *
 * @throws RuntimeError `config_invalid` with every problem.
 */
export async function checkConfigFile(
  file: string | undefined,
  { json }: { readonly json?: string | true | undefined },
): Promise<number> {
  const { found } = await locateConfig(file);
  if (found !== null) parseConfig(definition, found.text, { origin: found.path });
  const path = found?.path ?? null;
  const said = path === null ? "OK: no file was found, everything has its default" : `OK: ${path}`;
  await stdout().write(json === true ? `${JSON.stringify({ path, ok: true })}\n` : `${said}\n`);
  return 0;
}

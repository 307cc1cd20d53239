/** `config schema`: the JSON Schema of the configuration file. */

import { definition } from "../adapters/fragments.ts";
import { configJsonSchema } from "../src/config/json-schema.ts";
import { stdout } from "./output.ts";

/** Answers 0. */
export async function writeSchema(): Promise<number> {
  await stdout().write(`${JSON.stringify(configJsonSchema(definition), null, 2)}\n`);
  return 0;
}

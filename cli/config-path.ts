/** `config path`: which configuration file is used, and where it was looked for. */

import { locateConfig } from "../mod.ts";
import { stdout } from "./output.ts";
import { formatTable } from "./table.ts";

/** Answers 0: having no file is no error. */
export async function tellPath({
  config,
  json,
}: {
  readonly config?: string | true | undefined;
  readonly json?: string | true | undefined;
}): Promise<number> {
  const { found, looked } = await locateConfig(typeof config === "string" ? config : undefined);
  const out = stdout();
  const path = found?.path ?? null;
  if (json === true) {
    await out.write(`${JSON.stringify({ path, origin: found?.origin ?? null, looked })}\n`);
    return 0;
  }
  const results = { used: "used", missing: "not there", unrelated: "another program's: none of our tables is in it" };
  const styles = { used: "green", missing: "dim", unrelated: "yellow" } as const;
  const rows = looked.map((place) => [place.path, [results[place.result], styles[place.result]]] as const);
  await out.write(`${path ?? "No file: everything has its default"}\n${formatTable(rows, out)}`);
  return 0;
}

/** The reference is complete, and its page's example works. */

import { expect, test } from "vitest";
import { configurationPage } from "../../scripts/generate-docs.ts";
import { configReference } from "../../src/config/reference.ts";
import { definition, keys, parse } from "./config-sample.ts";

test("the reference has a row for every key, in its table", () => {
  const sections = new Map(
    configReference(definition)
      .split(/^## /m)
      .map((section) => [/^`\[(.*?)\]`/.exec(section)?.[1] ?? "", section]),
  );
  for (const [path] of keys) {
    const steps = path.split(".");
    const [table, name] = sections.has(steps.slice(0, -1).join("."))
      ? [steps.slice(0, -1).join("."), `\`${steps.at(-1)}\``]
      : [steps.slice(0, -2).join("."), `\`${steps.at(-2)}.<name>\``];
    expect(sections.get(table), path).toContain(`| ${name} |`);
  }
});

test("every row has four cells", () => {
  for (const row of configReference(definition)
    .split("\n")
    .filter((line) => line.startsWith("|"))) {
    expect(row.split("|")).toHaveLength(6);
  }
});

test("the page's example is understood", () => {
  const [, example = ""] = /```toml\n(.*?)```/s.exec(configurationPage()) ?? [];
  expect(parse(example).runtime.docker.memory_limit).toBe(512 * 2 ** 20);
});

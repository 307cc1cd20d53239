/** What is generated is what its sources say. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { configurationPage } from "../../scripts/generate-docs.ts";

test("docs/configuration.md is up to date (mend it with: node scripts/generate-docs.ts)", () => {
  const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");
  expect(page).toBe(configurationPage());
});

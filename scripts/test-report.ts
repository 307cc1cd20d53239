/** A vitest reporter that writes what the summary needs: counts, failures, and why each skipped test was skipped. */

import { writeFileSync } from "node:fs";
import type { SerializedError } from "vitest";
import type { Reporter, TestModule } from "vitest/node";

export interface TestReport {
  readonly passed: number;
  /** Failed tests, and everything else that failed: hooks, files that do not load, errors outside any test. */
  readonly failed: readonly string[];
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

export default class implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], outside: readonly SerializedError[]): void {
    const failed = outside.map((error) => `Outside any test: ${error.message}`);
    const skipped: { name: string; reason: string }[] = [];
    let passed = 0;
    for (const module of modules) {
      const path = module.relativeModuleId;
      const broken = module.errors().length > 0 ? [path] : [];
      for (const suite of module.children.allSuites()) {
        if (suite.errors().length > 0) broken.push(`${path} > ${suite.fullName} (in a hook)`);
      }
      failed.push(...broken);
      const silence = broken.length > 0 ? "see the failure of its file" : "no reason given";
      for (const test of module.children.allTests()) {
        const name = `${path} > ${test.fullName}`;
        const result = test.result();
        if (result.state === "passed") passed++;
        else if (result.state === "failed") failed.push(name);
        else if (result.state === "skipped") skipped.push({ name, reason: result.note ?? silence });
        else failed.push(`${name} (never finished)`);
      }
    }
    const target = process.env["PRX_TEST_REPORT"];
    if (target) writeFileSync(target, JSON.stringify({ passed, failed, skipped } satisfies TestReport));
  }
}

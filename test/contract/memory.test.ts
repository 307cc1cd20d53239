/** The contract on the memory backend: one that can do everything, and one that can do as little as a backend may. */

import { afterAll, describe, it } from "vitest";
import { contractCases, type Framework, registerContract } from "../../testing.ts";
import { memoryTarget } from "../fixtures/memory-target.ts";
import { reportMatrix } from "../fixtures/report-matrix.ts";

afterAll(reportMatrix);

/** Cases that need a machine are not asked of a double; the matrix says so. */
const framework: Framework = { describe, it, skip: () => {} };

// What twins do not play is said to be impossible, so that the suite sees both sides of the rule.
registerContract(
  framework,
  memoryTarget("memory", {
    grades: { network: "stronger", cpu: "impossible", cpu_time: "impossible", pids: "weaker", files: "impossible" },
  }),
);

const kinds = ["result-", "output-", "stdin-", "stream-", "limit-"];
registerContract(
  framework,
  {
    ...memoryTarget("memory-least", {
      capabilities: { separateStderr: false, reportsSignal: false, stdin: false, files: false, resumable: false },
      grades: { memory: "impossible" },
    }),
    scale: { parallel: 5, rapid: 20 },
  },
  contractCases.filter(({ id }) => kinds.some((kind) => id.startsWith(kind))),
);

/** Runs inside the emulated machine: `all` judges every case; `case NAME` is the host that one case is about. */

import { runCase } from "./cases.ts";
import { judgeAll } from "./judge.ts";

const [role = "", name = ""] = process.argv.slice(2);
if (role === "all") {
  await judgeAll();
} else {
  await runCase(name);
  // What is still open belongs to the case and ends with it.
  process.exit(0);
}

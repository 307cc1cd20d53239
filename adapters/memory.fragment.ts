/** `[runtime.memory]`: the test double, which has nothing to configure. */

import { fragment, key, table } from "../src/config/fragment.ts";

export const memoryFragment = fragment({
  name: "memory",
  place: "runtime",
  schema: key(table({}), "A double for tests: it runs no program. It has no keys"),
});

/** `[runtime.native]`: local child processes. */

import * as v from "valibot";
import { fragment, key, table, text, variables } from "../src/config/fragment.ts";

export const nativeFragment = fragment({
  name: "native",
  place: "runtime",
  schema: key(
    table({
      shell: key(v.optional(text, "/bin/bash"), "The shell of shell-form commands; other commands never see one"),
      env: key(v.optional(variables, {}), "Variables that every command gets besides the whitelisted ones", {
        secret: true,
      }),
    }),
    "Commands as child processes of this one",
  ),
});

/** The contract on local processes in bubblewrap's sandbox. */

import { registerSandboxedContract } from "../fixtures/sandboxed-contract.ts";

await registerSandboxedContract("bubblewrap");

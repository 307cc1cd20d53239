/** The contract on local processes in firejail's sandbox. */

import { registerSandboxedContract } from "../fixtures/sandboxed-contract.ts";

await registerSandboxedContract("firejail");

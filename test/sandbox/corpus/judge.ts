/** Asks one case of the host and of every sandbox, and says whether it came to the same end. */

import { createRuntime, type Runtime, RuntimeError } from "../../../mod.ts";
import { type Sandbox, sandboxes } from "../against.ts";
import type { CorpusCase } from "./case.ts";
import { difference, endings, missed, obstacle, type RunCase } from "./compare.ts";

/** What came of a case. */
export type Verdict =
  | { readonly result: "same" }
  | { readonly result: "skipped"; readonly reason: string }
  | { readonly result: "different"; readonly reason: string };

/** The host, and after it every sandbox of the list. */
export interface Places {
  judge(asked: CorpusCase): Promise<Verdict>;
  close(): Promise<void>;
}

export const defaultTimeoutMs = 60_000;

export async function openPlaces(): Promise<Places> {
  const runtimes = await Promise.all((["none", ...sandboxes] as const).map(openRuntime));
  const runs = runtimes.map(runOn);
  return {
    async judge(asked) {
      const reason = obstacle(asked);
      if (reason !== null) return { result: "skipped", reason };
      const [plain, ...others] = await endings(asked, runs);
      if (plain === undefined) throw new Error("Nothing was run");
      const wrong = missed(asked, plain);
      if (wrong !== null) return { result: "different", reason: wrong };
      const reasons = others.flatMap((other, index) => {
        const sandbox = sandboxes[index] ?? "none";
        if (asked.otherwiseIn?.[sandbox] !== undefined) return [];
        if (asked.refusedBy?.[sandbox] !== undefined)
          return other.outcome === "policy_unenforceable" ? [] : [`${sandbox}: was not refused: ${other.outcome}`];
        const what = difference(asked, plain, other);
        return what === null ? [] : [`${sandbox}: ${what}`];
      });
      return reasons.length === 0 ? { result: "same" } : { result: "different", reason: reasons.join("\n\n") };
    },
    close: async () => void (await Promise.all(runtimes.map((runtime) => runtime.close()))),
  };
}

function openRuntime(backend: Sandbox): Promise<Runtime> {
  return createRuntime({ runtime: { backend: "native" }, security: { sandbox: { backend } } });
}

function runOn(runtime: Runtime): RunCase {
  return async (asked, workingDir) => {
    const { script = [], env = {}, stdin, timeoutMs = defaultTimeoutMs } = asked;
    const [command, ...args] = asked.command ?? ["bash", "-c", script.join("\n")];
    try {
      const options = { env, workingDir, timeoutMs, ...(stdin === undefined ? {} : { stdin }) };
      const output = await runtime.execute(command, args, options);
      return { ...output, stdout: output.stdoutBytes, stderr: output.stderrBytes };
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      const stderr = new TextEncoder().encode(error.message);
      return { outcome: error.code, exitCode: null, stdout: new Uint8Array(), stderr };
    }
  };
}

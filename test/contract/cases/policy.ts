/** What cannot be kept is refused or told; what would happen can be shown without happening. */

import type { RequestedLimits } from "../../../src/runtime-types.ts";
import { type Clause, clauses, type NetworkMode } from "../../../src/types.ts";
import { check, equal, exited, includes, rejects, warningCodes } from "../check.ts";
import { type ContractCase, type ContractContext, needsDirectory } from "../target.ts";

interface Wish {
  readonly clause: Clause;
  readonly ask: { readonly limits?: RequestedLimits; readonly network?: NetworkMode };
}

/** One request for each clause that a request can demand. Generous, so that a command that is held still runs. */
const wishes: readonly Wish[] = [
  { clause: "network", ask: { network: "none" } },
  { clause: "memory", ask: { limits: { memoryBytes: 512 * 1024 * 1024 } } },
  { clause: "cpu", ask: { limits: { cpus: 1 } } },
  { clause: "cpu_time", ask: { limits: { cpuTimeMs: 30_000 } } },
  { clause: "pids", ask: { limits: { pids: 100 } } },
  { clause: "files", ask: { limits: { openFiles: 256 } } },
];

async function isKept({ runtime, invoke }: ContractContext, { clause, ask }: Wish): Promise<boolean> {
  const { command, args } = invoke("exit-with", ["0"]);
  const { clauses: reports } = await (await runtime()).explain(command, args, ask);
  const grade = reports.find((report) => report.clause === clause)?.verdict.grade;
  return grade === "enforced" || grade === "stronger";
}

export const policyCases: readonly ContractCase[] = [
  {
    id: "policy-demanded",
    title: "a demand that cannot be kept is refused by its name, unless the operator accepts it: then it is a warning",
    async run(context) {
      const { runtime, executeOn } = context;
      for (const wish of wishes) {
        const shared = await runtime();
        if (await isKept(context, wish)) {
          const output = await executeOn(shared, "exit-with", ["0"], wish.ask);
          exited(output, 0);
          check(!warningCodes(output).includes(`weaker_${wish.clause}`), `A kept ${wish.clause} is said to be weaker`);
          continue;
        }
        const error = await rejects(executeOn(shared, "exit-with", ["0"], wish.ask), "policy_unenforceable");
        includes(error.message, wish.clause, "message");
        equal(error.started, "no", "started");
        const lenient = await runtime({ security: { accept_weaker: [wish.clause] } });
        const output = await executeOn(lenient, "exit-with", ["0"], wish.ask);
        exited(output, 0);
        check(warningCodes(output).includes(`weaker_${wish.clause}`), `No warning says that ${wish.clause} is weaker`);
      }
    },
  },
  {
    id: "policy-refusal-shown",
    title: "explain says of each clause what execute would do",
    async run(context) {
      const { runtime, invoke } = context;
      const shared = await runtime();
      const { command, args } = invoke("exit-with", ["0"]);
      for (const wish of wishes) {
        const explanation = await shared.explain(command, args, wish.ask);
        equal(explanation.clauses.map(({ clause }) => clause).sort(), [...clauses].sort(), "clauses");
        const report = explanation.clauses.find(({ clause }) => clause === wish.clause);
        equal(
          [report?.demanded, report?.accepted],
          [true, await isKept(context, wish)],
          `${wish.clause}: demanded, accepted`,
        );
        equal(explanation.refused === null, report?.accepted, "refused");
        check((report?.verdict.because.length ?? 0) > 0, "A verdict has no reason");
      }
    },
  },
  {
    id: "policy-unknown-limit",
    title: "a limit that nobody knows is refused instead of ignored",
    async run({ runtime, invoke }) {
      const { command, args } = invoke("exit-with", ["0"]);
      const shared = await runtime();
      await rejects(shared.execute(command, args, { limits: { memory: 5 } as object }), "invalid_request");
      await rejects(shared.execute(command, args, { limits: { memoryBytes: 0 } }), "invalid_request");
      await rejects(shared.execute(command, args, { limits: { pids: Number.NaN } }), "invalid_request");
      await rejects(shared.execute(command, args, { network: "open" as "all" }), "invalid_request");
    },
  },
  {
    id: "policy-tool-narrows",
    title: "a tool's own limits hold beneath the operator's, and a request cannot widen them",
    async run({ runtime, invoke, marked }) {
      const { command, args } = invoke("sleep", ["30"]);
      const sleepy = { type: "command", command, args: [...args], timeout_secs: 0.3 };
      const flood = invoke("flood", ["5000"]);
      const talky = {
        type: "command",
        command: flood.command,
        args: [...flood.args],
        max_output_bytes: 100,
        env: { FROM_TOOL: "1" },
      };
      const shared = await runtime({ tools: { custom: { sleepy, talky } } });
      const slept = await shared.execute("sleepy", [], marked({ timeoutMs: 60_000 }));
      equal(slept.outcome, "timed_out", "outcome");
      check(warningCodes(slept).includes("narrowed"), "No warning says that the limit was narrowed");
      const talked = await shared.execute("talky", [], marked({ maxOutputBytes: 1000 }));
      equal([talked.stdoutBytes.length, talked.stdoutTotalBytes], [100, 5000], "kept and total");
      const { plan } = await shared.explain("talky", [], marked());
      check(Object.hasOwn(plan.env, "FROM_TOOL"), "The tool's own variable is missing");
    },
  },
  {
    id: "explain-runs-nothing",
    title: "explain runs nothing and makes nothing",
    needs: needsDirectory,
    async run({ runtime, invoke, directory, survivors, marked }) {
      const { path, read } = await directory();
      const { command, args } = invoke("write-file", ["made", "x"]);
      const shared = await runtime();
      const { plan } = await shared.explain(command, args, marked({ workingDir: path, files: { "in.txt": "x" } }));
      equal([plan.argv, plan.workingDir], [[command, ...args], path], "argv and working directory");
      equal([await read("made"), await read("in.txt")], [null, null], "files that it would have made");
      equal(await survivors(), 0, "processes");
    },
  },
  {
    id: "explain-no-secrets",
    title: "an explanation names variables and holds none of their values",
    async run({ runtime, invoke }) {
      const shared = await runtime();
      const { command, args } = invoke("exit-with", ["0"]);
      const explanation = await shared.explain(command, args, {
        env: { API_KEY: "s3cr3t-value" },
        stdin: "s3cr3t-value",
      });
      check(!JSON.stringify(explanation).includes("s3cr3t-value"), "The explanation holds a secret");
      check(Object.hasOwn(explanation.plan.env, "API_KEY"), "The explanation does not name the variable");
      check(
        explanation.candidates.some(({ backend, chosen }) => chosen && backend === shared.name),
        "No candidate is chosen",
      );
    },
  },
];

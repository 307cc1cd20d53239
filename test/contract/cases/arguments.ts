/** Arguments: byte for byte, never code, and refused by their index where no process could have them. */

import { equal, exited, includes, rejects } from "../check.ts";
import { all, type ContractCase, needsDirectory, needsPrograms } from "../target.ts";

const awkward = [
  ...["; touch pwned", "$(touch pwned)", "`touch pwned`", "a\"b'c", "line1\nline2; touch pwned", "-n", "*", ""],
  ...[
    "--",
    "-e",
    "\\",
    "\\n",
    "%s",
    "$HOME",
    "$IFS",
    "~",
    "é中😀",
    "\t tab",
    "\u0001",
    "a=b",
    "'",
    "&& touch pwned",
    "| cat",
  ],
];

export const argumentCases: readonly ContractCase[] = [
  {
    id: "arguments-exact",
    title: "arguments arrive byte for byte, the empty one too, and none becomes code",
    async run({ runtime, execute, target, executeOn }) {
      equal((await execute("print-args", awkward)).stdout, awkward.map((arg) => `${arg}\0`).join(""), "arguments");
      equal((await execute("print-args")).stdout, "", "no arguments");
      if (!target.directory) return;
      const directory = await target.directory();
      try {
        exited(await executeOn(await runtime(), "print-args", awkward, { workingDir: directory.path }), 0);
        equal(await directory.read("pwned"), null, "file that an argument would have made");
      } finally {
        await directory.remove();
      }
    },
  },
  {
    id: "arguments-nul",
    title: "a NUL byte is refused where it is, and nothing is cut",
    async run({ runtime, invoke }) {
      const shared = await runtime();
      const { command, args } = invoke("print-args", ["fine", "a\u0000b"]);
      const error = await rejects(shared.execute(command, args), "invalid_request");
      includes(error.message, `Argument ${args.length - 1}`, "message");
      equal(error.started, "no", "started");
      await rejects(shared.execute("tr\u0000ue"), "invalid_request");
      await rejects(shared.execute(command, [], { env: { A: "x\u0000y" } }), "invalid_request");
      await rejects(shared.execute(command, [], { env: { "A\u0000B": "x" } }), "invalid_request");
      await rejects(shared.execute(command, [], { workingDir: "/tmp\u0000/x" }), "invalid_request");
    },
  },
  {
    id: "arguments-surrogate",
    title: "half a surrogate pair has no bytes: refused",
    async run({ runtime, invoke }) {
      const { command, args } = invoke("print-args", ["\ud800"]);
      await rejects((await runtime()).execute(command, args), "invalid_request");
    },
  },
  {
    id: "arguments-oversize",
    title: "an argument that is too long is refused by its index; the longest that fits arrives",
    async run({ runtime, execute, invoke }) {
      const shared = await runtime();
      const { command, args } = invoke("print-args", ["a", "b".repeat(200_000)]);
      const error = await rejects(shared.execute(command, args), "argument_list_too_long");
      includes(error.message, `Argument ${args.length - 1}`, "message");
      equal(error.started, "no", "started");
      const longest = "中".repeat(40_000);
      equal((await execute("print-args", [longest])).stdoutTotalBytes, 120_001, "bytes of a long argument");
    },
  },
  {
    id: "arguments-too-many",
    title: "arguments that are too long together are an error of their own, and the host lives on",
    needs: needsPrograms,
    async run({ runtime, invoke, executeOn }) {
      const shared = await runtime();
      const { command, args } = invoke(
        "print-args",
        Array.from({ length: 200 }, () => "x".repeat(100_000)),
      );
      const error = await rejects(shared.execute(command, args), "argument_list_too_long");
      equal(error.started, "no", "started");
      exited(await executeOn(shared, "exit-with", ["0"]), 0);
    },
  },
  {
    id: "arguments-shell",
    title: "a shell-form command takes its arguments as parameters, not as text",
    needs: all(needsPrograms, needsDirectory),
    async run({ runtime, marked, directory }) {
      const { path, read } = await directory();
      const shared = await runtime();
      const options = marked({ shell: true, workingDir: path });
      const output = await shared.execute('printf "<%s>" "$@" | cat; exit 3', ["$(touch pwned)", "b c"], options);
      exited(output, 3);
      equal(output.stdout, "<$(touch pwned)><b c>", "stdout");
      equal(await read("pwned"), null, "file that an argument would have made");
    },
  },
];

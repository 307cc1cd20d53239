/** Failures to run at all: each its own kind, naming what was wrong, and nothing begun. */

import { check, equal, exited, includes, rejects } from "../check.ts";
import { all, type ContractCase, needsDirectory, needsPrograms } from "../target.ts";

export const errorCases: readonly ContractCase[] = [
  {
    id: "error-not-found",
    title: "a command that does not exist is named",
    async run({ runtime }) {
      const shared = await runtime();
      const error = await rejects(shared.execute("no-such-command-here", ["a"]), "command_not_found");
      includes(error.message, "no-such-command-here", "message");
      equal([error.started, error.backend], ["no", shared.name], "started and backend");
      const path = await rejects(shared.execute("/no/such/command"), "command_not_found");
      includes(path.message, "/no/such/command", "message");
    },
  },
  {
    id: "error-not-executable",
    title: "a file that is no program, and a directory, are not executable",
    needs: needsPrograms,
    async run({ runtime }) {
      const shared = await runtime();
      for (const command of ["/etc/passwd", "/etc"]) {
        const error = await rejects(shared.execute(command), "not_executable");
        includes(error.message, command, "message");
        equal(error.started, "no", "started");
      }
    },
  },
  {
    id: "error-no-shebang",
    title: "an executable text without an interpreter line is not executable, and no shell guesses at it",
    needs: all(needsPrograms, needsDirectory),
    async run({ runtime, directory }) {
      const { path, write, read } = await directory();
      await write("tool", "echo ran > ran\n", { executable: true });
      const shared = await runtime();
      const error = await rejects(shared.execute("./tool", [], { workingDir: path }), "not_executable");
      includes(error.message, "tool", "message");
      equal(await read("ran"), null, "file that the text would have made");
    },
  },
  {
    id: "error-no-interpreter",
    title: "a script whose interpreter is missing says so",
    needs: all(needsPrograms, needsDirectory),
    async run({ runtime, directory }) {
      const { path, write } = await directory();
      await write("tool", "#!/no/such/interpreter\necho hi\n", { executable: true });
      const attempt = (await runtime()).execute("./tool", [], { workingDir: path });
      const error = await rejects(attempt, ["not_executable", "command_not_found"]);
      includes(error.message, "/no/such/interpreter", "message");
    },
  },
  {
    id: "error-script",
    title: "a script with an interpreter runs, by its path and relative to the working directory",
    needs: all(needsPrograms, needsDirectory),
    async run({ runtime, directory }) {
      const { path, write } = await directory();
      await write("tool", '#!/bin/sh\necho "ran $1"\nexit 4\n', { executable: true });
      const shared = await runtime();
      const output = await shared.execute("./tool", ["it"], { workingDir: path });
      exited(output, 4);
      equal(output.stdout, "ran it\n", "stdout");
    },
  },
  {
    id: "error-working-dir",
    title: "a working directory that is missing or none is blamed itself, and not the command",
    needs: needsDirectory,
    async run({ runtime, invoke, directory }) {
      const { path, write } = await directory();
      await write("file", "x");
      const shared = await runtime();
      const { command, args } = invoke("exit-with", ["0"]);
      const missing = await rejects(
        shared.execute(command, args, { workingDir: `${path}/no/such` }),
        "working_dir_not_found",
      );
      includes(missing.message, `${path}/no/such`, "message");
      const file = await rejects(
        shared.execute(command, args, { workingDir: `${path}/file` }),
        "working_dir_not_a_directory",
      );
      includes(file.message, `${path}/file`, "message");
      equal([missing.started, file.started], ["no", "no"], "started");
      const command404 = shared.execute("no-such-command-here", [], { workingDir: path });
      await rejects(command404, "command_not_found");
    },
  },
  {
    id: "error-request",
    title: "what is no request is refused at the door",
    async run({ runtime, invoke }) {
      const shared = await runtime();
      const { command, args } = invoke("exit-with", ["0"]);
      await rejects(shared.execute(""), "invalid_request");
      await rejects(shared.execute(command, [3] as unknown as string[]), "invalid_request");
      await rejects(shared.execute(command, "ab" as unknown as string[]), "invalid_request");
      const unknown = await rejects(shared.execute(command, args, { timeout: 5 } as object), "invalid_request");
      includes(unknown.message, "timeout", "message");
      await rejects(shared.execute(command, args, { maxOutputBytes: -1 }), "invalid_request");
      await rejects(shared.execute(command, args, { tool: "no-such-tool" }), "tool_not_found");
      await rejects(shared.execute(command, args, { backend: "no-such-backend" }), "backend_unavailable");
    },
  },
  {
    id: "error-is-plain",
    title: "an error is plain data without its cause, and holds nothing of the environment or of stdin",
    async run({ runtime }) {
      const options = { env: { API_KEY: "s3cr3t-value" }, stdin: "s3cr3t-value" };
      const error = await rejects((await runtime()).execute("no-such-command-here", [], options), "command_not_found");
      equal(Object.keys(error.toJSON()).sort(), ["backend", "code", "message", "started"], "keys");
      check(!`${JSON.stringify(error)} ${error.message}`.includes("s3cr3t-value"), "The error holds a secret");
    },
  },
];

/** Files in and outputs out of the working directory, and no way around it. */

import { check, equal, exited, includes, ownWarningCodes, rejects } from "../check.ts";
import { all, type ContractCase, needsDirectory, needsFiles, needsPrograms } from "../target.ts";

const text = (bytes: Uint8Array | undefined): string | null => (bytes ? new TextDecoder().decode(bytes) : null);

export const fileCases: readonly ContractCase[] = [
  {
    id: "files-in",
    title: "files are there before the command begins, with their content, directories and mode",
    needs: needsFiles,
    async run({ execute }) {
      const bytes = Uint8Array.of(0, 255, 10, 13, 0);
      const read = await execute("read-file", ["a/b/data.bin"], { files: { "a/b/data.bin": bytes } });
      exited(read, 0);
      equal(read.stdoutBytes, bytes, "content");
      const files = { "run.sh": { content: "#!/bin/sh\n", executable: true }, "plain.txt": "x" };
      exited(await execute("is-executable", ["run.sh"], { files }), 0);
      exited(await execute("is-executable", ["plain.txt"], { files }), 1);
    },
  },
  {
    id: "files-private",
    title: "without a working directory of the caller's, executions do not see each other's files",
    needs: needsFiles,
    async run({ execute }) {
      exited(await execute("read-file", ["shared.txt"], { files: { "shared.txt": "mine" } }), 0);
      exited(await execute("read-file", ["shared.txt"], { files: { "other.txt": "x" } }), 1);
    },
  },
  {
    id: "files-out",
    title: "outputs come out after the end, byte for byte; what was not asked for does not",
    needs: needsFiles,
    async run({ execute }) {
      const output = await execute("write-file", ["out.txt", "grüße"], {
        outputs: ["out.txt"],
        files: { "in.txt": "x" },
      });
      exited(output, 0);
      equal(Object.keys(output.files), ["out.txt"], "files");
      equal(text(output.files["out.txt"]), "grüße", "content");
      equal(ownWarningCodes(output), [], "warnings");
    },
  },
  {
    id: "files-out-large",
    title: "a file of some megabytes goes in and out unchanged",
    needs: needsFiles,
    async run({ execute }) {
      const bytes = new Uint8Array(3_000_000).map((_, index) => (index * 7) & 0xff);
      const output = await execute("exit-with", ["0"], { files: { "big.bin": bytes }, outputs: ["big.bin"] });
      check(output.files["big.bin"] !== undefined, "The file did not come out");
      equal(output.files["big.bin"], bytes, "content");
    },
  },
  {
    id: "files-out-after-stop",
    title: "outputs come out of a command that was ended, too",
    needs: all(needsFiles, needsDirectory),
    async run({ execute }) {
      const output = await execute("heartbeat", ["beat"], { timeoutMs: 700, outputs: ["beat"] });
      equal(output.outcome, "timed_out", "outcome");
      check((output.files["beat"]?.length ?? 0) > 0, "The file did not come out");
    },
  },
  {
    id: "files-missing",
    title: "an output that is not there is a warning that names it",
    needs: needsFiles,
    async run({ execute }) {
      const output = await execute("exit-with", ["3"], { outputs: ["a.txt", "b.txt"] });
      exited(output, 3);
      equal(output.files, {}, "files");
      equal(ownWarningCodes(output), ["output_missing", "output_missing"], "warnings");
      includes(output.warnings.at(-1)?.message ?? "", "b.txt", "message");
    },
  },
  {
    id: "files-directory",
    title: "an output that is a directory is a warning",
    needs: needsFiles,
    async run({ execute }) {
      const output = await execute("make-directory", ["out"], { outputs: ["out"] });
      equal([output.files, ownWarningCodes(output)], [{}, ["output_missing"]], "files and warnings");
    },
  },
  {
    id: "files-outside",
    title: "paths that lead outside are refused before anything runs",
    needs: needsFiles,
    async run({ runtime, invoke }) {
      const shared = await runtime();
      const { command, args } = invoke("exit-with", ["0"]);
      for (const path of ["../x", "a/../../x", "/etc/x", "", ".", "..", "a//b", "a\u0000b", "a\\b", "C:x"]) {
        const files = await rejects(shared.execute(command, args, { files: { [path]: "x" } }), "invalid_request");
        const outputs = await rejects(shared.execute(command, args, { outputs: [path] }), "invalid_request");
        equal([files.started, outputs.started], ["no", "no"], "started");
      }
    },
  },
  {
    id: "files-out-link",
    title: "an output that is a link to outside does not come out",
    needs: needsFiles,
    async run({ execute }) {
      for (const target of ["/etc/passwd", "../../../../../../../etc/passwd"]) {
        const output = await execute("link", [target, "out.txt"], { outputs: ["out.txt"] });
        exited(output, 0);
        equal([output.files, ownWarningCodes(output)], [{}, ["output_missing"]], "files and warnings");
      }
      const nested = await execute("link", ["/etc", "dir"], { outputs: ["dir/passwd"] });
      equal([nested.files, ownWarningCodes(nested)], [{}, ["output_missing"]], "files and warnings below a link");
    },
  },
  {
    id: "files-in-link",
    title: "a file does not go through a link that leads out of the working directory",
    needs: all(needsFiles, needsDirectory),
    async run({ runtime, invoke, directory }) {
      const [inside, outside] = [await directory(), await directory()];
      await outside.write("victim", "untouched");
      await inside.link("out", outside.path);
      await inside.link("file", `${outside.path}/victim`);
      const shared = await runtime();
      const { command, args } = invoke("exit-with", ["0"]);
      for (const path of ["out/victim", "out/new", "out/new/deep", "file"]) {
        const attempt = shared.execute(command, args, { workingDir: inside.path, files: { [path]: "changed" } });
        const error = await rejects(attempt, "files_failed");
        includes(error.message, path, "message");
      }
      equal(await outside.read("victim"), "untouched", "content outside");
      equal([await outside.read("new"), await outside.read("new/deep")], [null, null], "files made outside");
    },
  },
  {
    id: "files-out-pipe",
    title: "an output that is a pipe holds nobody up",
    needs: all(needsFiles, needsPrograms),
    async run({ runtime, marked }) {
      const shared = await runtime();
      const output = await shared.execute("sh", ["-c", "mkfifo out"], marked({ outputs: ["out"], files: { x: "" } }));
      exited(output, 0);
      equal([output.files, ownWarningCodes(output)], [{}, ["output_missing"]], "files and warnings");
    },
  },
];

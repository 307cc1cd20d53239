/** The working directory: the one that was named, and only where the operator allows it. */

import { equal, exited, rejects } from "../check.ts";
import { all, type ContractCase, needsDirectory, needsFiles } from "../target.ts";

export const workingDirCases: readonly ContractCase[] = [
  {
    id: "dir-used",
    title: "a command works where it is told to, and its files stay there",
    needs: needsDirectory,
    async run({ execute, directory }) {
      const { path, read } = await directory();
      exited(await execute("write-file", ["made", "x"], { workingDir: path }), 0);
      equal(await read("made"), "x", "file in the working directory");
    },
  },
  {
    id: "dir-files",
    title: "files and outputs belong to the working directory that was named",
    needs: all(needsDirectory, needsFiles),
    async run({ execute, directory }) {
      const { path, read } = await directory();
      const output = await execute("read-file", ["in/x"], {
        workingDir: path,
        files: { "in/x": "1" },
        outputs: ["in/x"],
      });
      exited(output, 0);
      equal([output.stdout, await read("in/x"), Object.keys(output.files)], ["1", "1", ["in/x"]], "file");
    },
  },
  {
    id: "dir-escapes",
    title: "every way out of the allowed roots is refused, whatever it is spelled like",
    needs: needsDirectory,
    async run({ runtime, invoke, directory }) {
      const [root, other] = [await directory(), await directory()];
      await root.makeDirectory("a/deep");
      await other.makeDirectory("sub");
      await root.link("link", other.path);
      await root.link("a/link", `${other.path}/sub`);
      await root.link("a/up", "../..");
      const shared = await runtime({ security: { allowed_workspace_roots: [root.path] } });
      const { command, args } = invoke("exit-with", ["0"]);
      const at = (workingDir: string) => shared.execute(command, args, { workingDir });
      const name = other.path.slice(other.path.lastIndexOf("/") + 1);
      const escapes = [
        ...["/", "/etc", other.path, `${root.path}/..`, `${root.path}/../${name}`, `${root.path}/a/../../${name}`],
        // `..` behind a link is the parent of where the link leads.
        ...[
          `${root.path}/link`,
          `${root.path}/link/sub`,
          `${root.path}/a/link/..`,
          `${root.path}/a/link/../..`,
          `${root.path}/a/up`,
        ],
        // A name that only begins like the root.
        `${root.path}-other`,
        `${other.path}/no/such`,
      ];
      for (const path of escapes) await rejects(at(path), ["working_dir_not_allowed"]);
      exited(await at(root.path), 0);
      exited(await at(`${root.path}/a/deep/..`), 0);
      await rejects(at(`${root.path}/no/such`), "working_dir_not_found");
    },
  },
  {
    id: "dir-root-link",
    title: "a root that is itself a link allows what it leads to",
    needs: needsDirectory,
    async run({ runtime, executeOn, directory }) {
      const [real, other] = [await directory(), await directory()];
      await real.makeDirectory("sub");
      await other.link("root", real.path);
      const shared = await runtime({ security: { allowed_workspace_roots: [`${other.path}/root`] } });
      exited(await executeOn(shared, "exit-with", ["0"], { workingDir: `${other.path}/root/sub` }), 0);
      exited(await executeOn(shared, "exit-with", ["0"], { workingDir: `${real.path}/sub` }), 0);
      await rejects(executeOn(shared, "exit-with", ["0"], { workingDir: other.path }), "working_dir_not_allowed");
    },
  },
];

/** The environment: exactly what was granted, whatever the host holds. */

import type { ExecutionOutput } from "../../../src/runtime-types.ts";
import { check, equal, exited, includes, rejects } from "../check.ts";
import { all, type ContractCase, needsDirectory, needsHostEnv, needsPrograms } from "../target.ts";

const secrets = {
  AWS_SECRET_ACCESS_KEY: "wJalr-secret",
  GH_TOKEN: "ghp-secret",
  DATABASE_URL: "postgres://u:secret@h/db",
  MY_ODDLY_NAMED_PW: "odd-secret",
  SSH_AUTH_SOCK: "/tmp/agent-secret",
};

function variables({ stdout }: ExecutionOutput): Record<string, string> {
  const entries = stdout.split("\0").slice(0, -1);
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
}

const tool = (words: string): string => `#!/bin/sh\necho "${words}"\n`;

export const environmentCases: readonly ContractCase[] = [
  {
    id: "env-exact",
    title: "a command has exactly the plan's variables and those the backend says it adds; no secret of the host",
    needs: needsHostEnv,
    async run({ runtime, executeOn, invoke, marked, target }) {
      for (const [name, value] of Object.entries(secrets)) target.setHostEnv?.(name, value);
      try {
        const shared = await runtime();
        const { command, args } = invoke("print-env");
        const { plan, addedEnv } = await shared.explain(command, args, marked({ env: { MINE: "1" } }));
        const output = await executeOn(shared, "print-env", [], { env: { MINE: "1" } });
        exited(output, 0);
        const seen = variables(output);
        for (const name of Object.keys(plan.env)) check(Object.hasOwn(seen, name), `Variable ${name} did not arrive`);
        const allowed = new Set([...Object.keys(plan.env), ...addedEnv]);
        for (const name of Object.keys(seen)) check(allowed.has(name), `Variable ${name} was never granted`);
        check(!output.stdout.includes("secret"), "A secret of the host reached the command");
        equal(seen["MINE"], "1", "MINE");
      } finally {
        for (const name of Object.keys(secrets)) target.setHostEnv?.(name, undefined);
      }
    },
  },
  {
    id: "env-whitelist",
    title: "a variable of the host passes when the operator names it, and only then",
    needs: needsHostEnv,
    async run({ runtime, executeOn, target }) {
      target.setHostEnv?.("CONTRACT_GRANTED", "yes");
      try {
        const open = await runtime({ runtime: { env_whitelist: ["CONTRACT_GRANTED"] } });
        const granted = variables(await executeOn(open, "print-env"));
        equal(granted["CONTRACT_GRANTED"], "yes", "CONTRACT_GRANTED");
        const closed = await runtime({ runtime: { env_whitelist: [] } });
        const denied = variables(await executeOn(closed, "print-env"));
        equal(denied["CONTRACT_GRANTED"], undefined, "CONTRACT_GRANTED without the whitelist");
      } finally {
        target.setHostEnv?.("CONTRACT_GRANTED", undefined);
      }
    },
  },
  {
    id: "env-loader",
    title: "loader variables of a request are refused unless the operator names them",
    async run({ runtime, executeOn, invoke }) {
      const shared = await runtime();
      const { command, args } = invoke("print-env");
      for (const name of [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "NODE_OPTIONS",
        "BASH_ENV",
        "PYTHONPATH",
      ]) {
        const error = await rejects(shared.execute(command, args, { env: { [name]: "/tmp/x" } }), "invalid_request");
        includes(error.message, name, "message");
      }
      const open = await runtime({ runtime: { env_whitelist: ["NODE_OPTIONS"] } });
      const seen = variables(await executeOn(open, "print-env", [], { env: { NODE_OPTIONS: "--no-warnings" } }));
      equal(seen["NODE_OPTIONS"], "--no-warnings", "NODE_OPTIONS");
    },
  },
  {
    id: "env-values",
    title: "values pass unchanged: newlines, equal signs, long ones, empty ones",
    async run({ execute }) {
      const env = {
        LINES: "a\nb\n",
        EQUALS: "a=b==c",
        LONG: "x".repeat(100_000),
        EMPTY: "",
        UNICODE: "grüße 中😀",
        SPACE: " a ",
      };
      const output = await execute("print-env", [], { env });
      exited(output, 0);
      const seen = variables(output);
      for (const [name, value] of Object.entries(env)) equal(seen[name], value, name);
    },
  },
  {
    id: "env-odd-names",
    title: "odd names pass unchanged, or are refused by name where the platform cannot have them",
    async run({ runtime, execute, invoke, target }) {
      const names = ["1X", "a.b", "Ä", "A-B", "a b", "__proto__", "constructor"];
      const env = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
      Object.defineProperty(env, "__proto__", { value: "value of __proto__", enumerable: true });
      if (target.capabilities.anyEnvName) {
        const seen = variables(await execute("print-env", [], { env }));
        for (const name of names.filter((one) => one !== "__proto__")) equal(seen[name], `value of ${name}`, name);
      } else {
        const { command, args } = invoke("print-env");
        const error = await rejects(
          (await runtime()).execute(command, args, { env: { "a b": "x" } }),
          "invalid_request",
        );
        includes(error.message, "a b", "message");
      }
    },
  },
  {
    id: "env-impossible-names",
    title: "names that no process can have are refused by name",
    async run({ runtime, invoke }) {
      const shared = await runtime();
      const { command, args } = invoke("print-env");
      const empty = await rejects(shared.execute(command, args, { env: { "": "x" } }), "invalid_request");
      includes(empty.message, '""', "message");
      const equals = await rejects(shared.execute(command, args, { env: { "A=B": "x" } }), "invalid_request");
      includes(equals.message, "A=B", "message");
      await rejects(shared.execute(command, args, { env: { A: 1 as unknown as string } }), "invalid_request");
    },
  },
  {
    id: "env-path",
    title: "a command is looked up in its own PATH, never in the host's",
    needs: all(needsPrograms, needsDirectory),
    async run({ runtime, directory, target }) {
      const { path, seenAs = path, write } = await directory();
      await write("bin/tool", tool("in bin"), { executable: true });
      await write("tool", tool("in the working directory"), { executable: true });
      const shared = await runtime();
      const run = (PATH: string) => shared.execute("tool", [], { env: { PATH }, workingDir: path });
      const standard = target.path ?? "/usr/bin:/bin";
      equal((await run(`${seenAs}/bin`)).stdout, "in bin\n", "absolute entry");
      equal((await run(`.:${standard}`)).stdout, "in the working directory\n", "relative entry");
      equal((await run(`bin:${standard}`)).stdout, "in bin\n", "relative entry below");
      await rejects(run(standard), "command_not_found");
      await rejects(shared.execute("ls", [], { env: { PATH: `${seenAs}/bin` } }), "command_not_found");
    },
  },
  {
    id: "env-path-skips",
    title: "a PATH entry with something else of that name is passed over for a program further on",
    needs: all(needsPrograms, needsDirectory),
    async run({ runtime, directory }) {
      const { path, seenAs = path, write, makeDirectory } = await directory();
      await makeDirectory("one/tool");
      await write("two/tool", "not executable");
      await write("three/tool", tool("found"), { executable: true });
      const shared = await runtime();
      const PATH = ["none", "one", "two", "three"].map((name) => `${seenAs}/${name}`).join(":");
      const run = (PATH: string) => shared.execute("tool", [], { env: { PATH }, workingDir: path });
      equal((await run(PATH)).stdout, "found\n", "stdout");
      await rejects(run(`${seenAs}/one:${seenAs}/two`), "not_executable");
    },
  },
  {
    id: "env-path-none",
    title: "without a PATH a safe default is searched, the same on every runtime",
    needs: needsPrograms,
    async run({ runtime, executeOn, marked }) {
      const shared = await runtime({ runtime: { env_whitelist: [] } });
      exited(await shared.execute("ls", ["/"], marked()), 0);
      // A platform that always gives one says so.
      if ((await shared.explain("ls")).addedEnv.includes("PATH")) return;
      const seen = variables(await executeOn(shared, "print-env"));
      equal(seen["PATH"], undefined, "PATH that nobody gave");
    },
  },
];

/** Commands are looked up as the sandbox will show them, and nothing is learned of what it hides. */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { resolveCommand } from "../../adapters/_native/resolve-command.ts";
import { findSystemPaths } from "../../adapters/_native/sandbox/system-paths.ts";
import { composeView } from "../../adapters/_native/sandbox/view.ts";
import { sightIn } from "../../adapters/_native/sandbox/visible.ts";
import { RuntimeError } from "../../src/errors.ts";
import { need } from "../fixtures/needed.ts";
import { scratchDirectory } from "./native-scratch.ts";

const { at, write, makeDirectory } = scratchDirectory();
const work = makeDirectory("work");
const tools = makeDirectory("tools");
const script = "#!/bin/sh\nexit 0\n";
write("hidden/program", script, 0o755);
write("hidden/text", "#!/secret/interpreter of/the host\n", 0o755);
symlinkSync(makeDirectory("settings-1"), at("settings"));
write("settings-1/passwd", "no program", 0o644);
const view = composeView({
  system: [{ kind: "readonly", at: "/etc", source: at("settings") }, ...findSystemPaths().always],
  listed: [{ kind: "readonly", at: tools, source: tools }],
  ...{ toolchains: [], protectedPaths: [], keptFiles: [], hidden: [], network: false, home: null, workingDir: work },
});

/** The file, or code and message of the refusal. */
function found(command: string, path = "/usr/bin:/bin"): string {
  try {
    return resolveCommand(command, { platform: "linux", workingDir: work, env: { PATH: path } }, sightIn(view));
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    return `${error.code}: ${error.message}`;
  }
}

let links = 0;
/** Found through a link in the working directory, whose own name is taken out of the answer. */
function through(target: string, command = (link: string) => link): string {
  links += 1;
  const link = at(`work/link-${links}`);
  symlinkSync(target, link);
  return found(command(link))
    .replaceAll(link, "LINK")
    .replaceAll(`link-${links}`, "LINK")
    .replaceAll(`-${links}.sh`, ".sh");
}

function linkTo(link: string): string {
  symlinkSync(link, `${link}-2`);
  return `${link}-2`;
}

const nothing = "to nothing that is seen in the sandbox";

describe.skipIf(process.platform !== "linux")("a link in a place that commands can write", () => {
  const [existing, missing] = [at("hidden/program"), at("hidden/no-such-program")];
  symlinkSync("/secret/target", at("hidden/link"));
  mkdirSync(at("hidden/directory"));
  const hidden = [existing, missing, at("hidden/link"), at("hidden/text"), at("hidden/directory"), "/proc/self/exe"];

  const told = (of: (target: string) => string) => new Set([...hidden, "nowhere", "/nowhere/else", "../../up"].map(of));

  test.each<readonly [string, (target: string) => string]>([
    ["by itself", (target) => through(target)],
    ["by a way from the working directory", (target) => through(target, (link) => `./${link.slice(work.length + 1)}`)],
    ["by another link", (target) => through(target, linkTo)],
    ["as an interpreter", (target) => through(target, (link) => write(`work/as-${links}.sh`, `#!${link}\n`, 0o755))],
    [
      "as an interpreter that is named from the working directory",
      (target) =>
        through(target, (link) => write(`work/from-${links}.sh`, `#!${link.slice(work.length + 1)}\n`, 0o755)),
    ],
  ])("tells nothing of what it leads to: %s", (_, of) => {
    const answers = told(of);
    expect(answers.size, [...answers].join("\n")).toBe(1);
    const [answer = ""] = answers;
    expect(answer).toMatch(/^command_not_found: /);
    expect(answer).toContain(nothing);
    expect(answer).not.toMatch(/hidden|secret|nowhere|readonly_paths/);
  });

  test("tells nothing either where it stands above what is named", () => {
    symlinkSync(at("hidden"), at("work/above"));
    const answers = ["program", "no-such-program", "link"].map((name) =>
      found(`./above/${name}`).replace(name, "NAME"),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain(nothing);
  });

  test("leads on where that is seen", () => {
    write("work/own", script, 0o755);
    write("tools/tool", script, 0o755);
    for (const target of ["own", at("work/own"), "/bin/sh", "../tools/tool"]) expect(through(target)).toBe("LINK");
    symlinkSync("/bin/sh", at("work/shell"));
    expect(found(write("work/by-link", `#!${at("work/shell")}\n`, 0o755))).toBe(at("work/by-link"));
  });
});

describe.skipIf(process.platform !== "linux")("what is named directly", () => {
  const line = `add readonly_paths = [${JSON.stringify(at("hidden"))}] to [security.sandbox]`;

  test("is told with the line that shows it, whether it is there or not", () => {
    for (const name of ["program", "no-such-program", "link"])
      expect(found(at(`hidden/${name}`))).toBe(
        `command_not_found: Command ${at(`hidden/${name}`)} is not seen in the sandbox: if it is there, ${line}`,
      );
    expect(found("program", `${at("hidden")}:/usr/bin`)).toContain(line);
  });

  test("is not what a name on the PATH has to be: first it is told that no entry that is seen has it", () => {
    const path = `${at("hidden")}:${tools}:/usr/bin`;
    expect(found("misspelt", path)).toBe(
      `command_not_found: Command not found: misspelt: no entry that is seen of PATH (${path}) has it. Command ${at("hidden/misspelt")} is not seen in the sandbox: if it is there, ${line}`,
    );
    expect(found("misspelt", tools)).toBe(
      `command_not_found: Command not found: misspelt: no entry of PATH (${tools}) has it`,
    );
  });

  test("leads, by links where no command works, to what has to be shown", () => {
    symlinkSync(at("hidden/program"), at("tools/to-program"));
    expect(found("to-program", tools)).toContain(`Command ${at("tools/to-program")} is not seen`);
    expect(found("to-program", tools)).toContain(line);
    write("tools/by-hidden", `#!${at("hidden/program")}\n`, 0o755);
    expect(found("by-hidden", tools)).toContain(
      `${at("hidden/program")}, the interpreter of ${at("tools/by-hidden")},`,
    );
    expect(found("by-hidden", tools)).toContain(line);
  });

  test("is what is mounted there, and no link, although one leads to its source", () => {
    expect(found("/etc/passwd")).toBe(
      "not_executable: Command cannot be executed: /etc/passwd has no permission to be executed: chmod +x it",
    );
    expect(found("/etc")).toBe("not_executable: Command cannot be executed: /etc is a directory");
    expect(found("/etc/shadow")).toBe("command_not_found: Command not found: /etc/shadow");
  });

  test("is told as missing where everything is seen", () => {
    expect(found("./none")).toBe("command_not_found: Command not found: ./none");
    write("work/bad", "#!./none\n", 0o755);
    expect(found("./bad")).toContain('names an interpreter that is missing: "./none"');
    expect(found("sh")).toMatch(/^\/.*\/sh$/);
  });
});

test("a pipe is opened by nobody, whether the sandbox shows it or not", async (context) => {
  need(context, process.platform === "linux" ? null : "sandboxes are for Linux");
  for (const name of ["hidden/pipe", "work/pipe"]) {
    execFileSync("mkfifo", ["-m", "755", at(name)]);
    const writer = spawn("/bin/sh", ["-c", 'echo begun >&2; echo x > "$0"; echo opened', at(name)]);
    onTestFinished(async () => {
      writer.kill("SIGKILL");
      await once(writer, "close");
    });
    let said = "";
    writer.stdout.on("data", (chunk) => (said += chunk));
    await once(writer.stderr, "data");
    expect(name === "work/pipe" ? found("./pipe") : through(at(name))).toContain(
      name === "work/pipe" ? "is not a regular file" : nothing,
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(said).toBe("");
  }
});

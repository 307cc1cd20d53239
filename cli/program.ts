/** The commands, their flags and their help. What a command does is loaded when it is run. */

import { Command, CommanderError, Option } from "commander";
import { stdout } from "./output.ts";
import type { RequestFlags } from "./request-flags.ts";
import { readVersion } from "./version.ts";

export interface ProgramOptions {
  /** Takes what `--help` and `--version` say. */
  readonly write: (text: string) => void;
  /** Takes the exit code of the command that was run. */
  readonly finish: (exitCode: number) => void;
}

/** Flags of one command: what commander makes of them. */
type Flags = Readonly<Record<string, string | true | undefined>>;

/** The whole tree; running nothing, it also tells help and completion what there is. */
export function createProgram({ write, finish }: ProgramOptions): Command {
  const program = new Command("prx-runtime")
    .description("Runs a command in one of several places, with the same answer and the same guarantees")
    .option("-V, --version", "Say the version")
    .on("option:version", () => {
      write(`${readVersion()}\n`);
      throw new CommanderError(0, "commander.version", "");
    })
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: write, outputError: () => {} })
    .configureHelp({ styleTitle: (title) => stdout().paint("bold", title) })
    .helpOption("-h, --help", "Say what there is")
    .helpCommand("help [command]", "Say what there is")
    .addHelpText("after", examples);

  const add = (name: string, description: string) => program.command(name).description(description);

  addRequestFlags(add("run", "Run a command; exits as it does"))
    .option("-q, --quiet", "No warnings and no progress on stderr")
    .addHelpText("after", runHelp)
    .action(async (command: string, args: readonly string[], flags: RequestFlags) =>
      finish(await (await import("./run.ts")).run({ command, args }, flags)),
    );
  addRequestFlags(add("explain", "Say what run would do, and run nothing"))
    .addHelpText("after", "\nExits with 77 where run would refuse.")
    .action(async (command: string, args: readonly string[], flags: RequestFlags) =>
      finish(await (await import("./explain.ts")).explain({ command, args }, flags)),
    );
  add("doctor", "Say which backends work here, which one is used, and what to do about the others")
    .addOption(configFlag())
    .option("--json", "One JSON object on stdout")
    .addHelpText("after", "\nExits with 0 where the configured backend works, else with 69.")
    .action(async (flags: Flags) => finish(await (await import("./doctor.ts")).doctor(flags)));
  addToolsCommands(add("tools", "Look at the tools of the configuration, and at WASM modules"), finish);
  addConfigCommands(add("config", "Look at the configuration"), finish);
  add("completion", "Write a script that completes this program's words")
    .addArgument(program.createArgument("<shell>", "The shell").choices(["bash", "zsh", "fish", "powershell"]))
    .addHelpText("after", completionHelp)
    .action(async (shell: string) => finish(await (await import("./completion.ts")).completion(shell)));
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .passThroughOptions()
    .action(async (words: readonly string[]) =>
      finish(await (await import("./complete.ts")).complete(createProgram({ write, finish }), words)),
    );
  return program;
}

function addToolsCommands(tools: Command, finish: ProgramOptions["finish"]): void {
  tools
    .command("list")
    .description("List the configured tools, and the modules in runtime.wasm.module_path")
    .addOption(configFlag())
    .option("--json", "One JSON object on stdout")
    .action(async (flags: Flags) => finish(await (await import("./tools.ts")).listTools(flags)));
  tools
    .command("inspect")
    .description("Say what a module is and asks for: digest, world, imports, exports, wanted capabilities")
    .argument("<name>", "A tool of type wasm, a module's name or its path")
    .addOption(configFlag())
    .option("--json", "One JSON object on stdout")
    .addHelpText("after", "\nExits with 126 where the module cannot be run.")
    .action(async (name: string, flags: Flags) => finish(await (await import("./tools.ts")).inspectTool(name, flags)));
}

function addConfigCommands(config: Command, finish: ProgramOptions["finish"]): void {
  config
    .command("check")
    .description("Check a configuration file and list every problem")
    .argument("[file]", "The file; by default the one that is found")
    .option("--json", "One JSON object on stdout")
    .addHelpText("after", "\nExits with 78 where there is a problem.")
    .action(async (file: string | undefined, flags: Flags) =>
      finish(await (await import("./config-check.ts")).checkConfigFile(file, flags)),
    );
  config
    .command("show")
    .description("Show the configuration as TOML, defaults as comments, secrets redacted")
    .addOption(configFlag())
    .addOption(new Option("--written", "Only what somebody wrote").conflicts("defaults"))
    .option("--defaults", "What holds without any file")
    .option("--json", "One JSON object on stdout")
    .action(async (flags: Flags) => finish(await (await import("./config-show.ts")).showConfiguration(flags)));
  config
    .command("schema")
    .description("Write the JSON Schema of the configuration file, for editors")
    .action(async () => finish(await (await import("./config-schema.ts")).writeSchema()));
  config
    .command("path")
    .description("Say which configuration file is used, and where it was looked for")
    .addOption(configFlag())
    .option("--json", "One JSON object on stdout")
    .action(async (flags: Flags) => finish(await (await import("./config-path.ts")).tellPath(flags)));
}

function configFlag(): Option {
  return new Option("-c, --config <file>", "Configuration file; by default the one that is found (see config path)");
}

function addRequestFlags(command: Command): Command {
  const list = (flags: string, description: string) =>
    new Option(flags, description).argParser((value: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      value,
    ]);
  return command
    .argument("<command>", "The program; everything after it belongs to it")
    .argument("[args...]", "Its arguments, passed on as they are")
    .passThroughOptions()
    .addOption(configFlag())
    .option("-t, --tool <name>", "Whose limits and environment apply: a name of [tools.custom]")
    .option(
      "-b, --backend <name>",
      "Where it runs, in place of auto; never a place that isolates less than a configured one",
    )
    .addOption(
      new Option("--sandbox <name>", "A sandbox around a local process, in place of none or auto").choices([
        ...["bubblewrap", "firejail", "auto"],
      ]),
    )
    .option("--timeout <duration>", "500ms, 2s, 1.5m, 1h or seconds; 0 for no limit")
    .addOption(list("-e, --env <name=value>", "A variable, or NAME for the value it has here; repeatable"))
    .option("-C, --cwd <dir>", "Working directory")
    .option("--stdin <source>", "inherit, none, or a file (default: inherit, or none where stdin is a terminal)")
    .addOption(list("--file <path=hostfile>", "A file for the working directory; repeatable"))
    .addOption(list("--output <path=hostfile>", "A file to bring out of the working directory; repeatable"))
    .addOption(new Option("--network <mode>", "Reach of the network, at the most").choices(["none", "cluster", "all"]))
    .option("--memory <size>", "Memory, at the most: 256m, 1.5g or bytes")
    .option("--cpus <cores>", "Processors, at the most: 1.5 or 500m")
    .option("--cpu-time <duration>", "Processor time, at the most")
    .option("--pids <n>", "Processes at one time, at the most")
    .option("--open-files <n>", "Open files of one process, at the most")
    .option("--max-output <size>", "Bytes kept of each stream, with --json")
    .option("--shell", "The command is a line for the configured shell, its arguments are $1 and on")
    .option("--json", "One JSON object on stdout");
}

const examples = `
Examples:
  prx-runtime run -- cargo test
  prx-runtime run --timeout 30s --network none --json -- python3 tool.py
  echo data | prx-runtime run --shell 'sort | uniq -c'
  prx-runtime run --sandbox auto -- sh -c 'git init && make'
  prx-runtime explain --memory 256m -- node script.js
  prx-runtime doctor`;

const runHelp = `
Examples:
  prx-runtime run ls -la
  prx-runtime run --env TOKEN --file in.csv=data/in.csv --output out.csv -- ./convert in.csv out.csv

Exit codes:
  the command's own; 128+n where signal n ended it
  124  it ran out of time              125  how it ended is not known
  126  it cannot be executed           127  it was not found
  64   wrong flags   69  the backend cannot be used   77  the policy cannot be kept   78  wrong configuration
  130, 143, 129  this program got SIGINT, SIGTERM or SIGHUP; the command is gone then`;

const completionHelp = `
Examples:
  bash        source <(prx-runtime completion bash)
  zsh         source <(prx-runtime completion zsh)
  fish        prx-runtime completion fish | source
  powershell  prx-runtime completion powershell | Out-String | Invoke-Expression`;

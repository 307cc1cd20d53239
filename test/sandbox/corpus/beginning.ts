/** How a command begins: its name, its arguments, its input, the name of its directory. No shell is in between. */

import type { CorpusCase } from "./case.ts";

const showing = '#!/bin/sh\nprintf "<%s>" "$0" "$@"\npwd\n';
/** Bash, because the file is not executable and need not be: `bash tool …`. */
const shown = (name: string, ...args: readonly string[]): CorpusCase => ({
  name,
  files: { tool: showing },
  command: ["bash", "tool", ...args],
});
const oddInProfile = { firejail: "its profiles cannot name such a path" };
const inDirectory = (directory: string, more: Partial<CorpusCase> = {}): CorpusCase => ({
  name: `in a directory named ${JSON.stringify(directory)}`,
  directory,
  files: { "in/file": "there\n" },
  script: ['pwd; cat in/file; echo new > out; touch "$PWD/by path"; ls; cd in && cat "$OLDPWD/out"'],
  ...more,
});

export const beginningCases: readonly CorpusCase[] = [
  shown(
    "arguments that are empty, blank, quoted or of several lines",
    "",
    " ",
    "a b",
    "it's",
    '"q"',
    "two\nlines",
    "\t",
  ),
  shown(
    "arguments that a shell would expand",
    "$HOME",
    "*",
    "~",
    "`id`",
    "$(id)",
    "{a,b}",
    "a;b",
    "x|y",
    "\\n",
    "!!",
    "#",
  ),
  shown(
    "arguments that look like a sandbox's own options",
    "--",
    "--ro-bind",
    "/",
    "/",
    "--unshare-all",
    "--noprofile",
    "-",
  ),
  shown("arguments beyond ASCII", "Grüße", "你好", "\u{1f600}", "\u0301"),
  shown("two thousand arguments", ...Array.from({ length: 2000 }, (_, index) => `argument-${index}`)),
  shown("an argument of a hundred kilobytes", "x".repeat(100_000)),
  { name: "a program by its absolute path", command: ["/bin/echo", "-n", "absolute"] },
  { name: "a program found on PATH", command: ["printf", "%s-%s\\n", "--", "-v"] },
  { name: "a program of the working directory", command: ["./made"], files: { made: "" }, exits: "not_executable" },
  { name: "a program that is nowhere", command: ["no-such-command-here"], exits: "command_not_found" },
  { name: "a path that leads nowhere", command: ["/no/such/program"], exits: "command_not_found" },
  { name: "a directory in place of a program", command: ["/usr"], exits: "not_executable" },
  { name: "a failing program and nothing else", command: ["false"], exits: 1 },
  { name: "input of a line", command: ["cat"], stdin: "one line\n" },
  {
    name: "input of every byte",
    command: ["od", "-An", "-tx1"],
    stdin: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  },
  { name: "input of a megabyte", command: ["sha256sum"], stdin: new Uint8Array(1_000_000).fill(65) },
  { name: "input that nobody reads", command: ["true"], stdin: "x".repeat(500_000) },
  { name: "no input at all", command: ["wc", "-c"] },
  {
    name: "a program for bash by its input",
    command: ["bash", "-s", "arg"],
    stdin: 'echo "$1"; read -r rest; echo "[$rest]"\nfor the reader\n',
  },
  {
    name: "variables with odd names and values",
    env: { "dotted.name": "1", lower: "a\nb", QUOTES: "'\"`$(id)", EQUALS: "a=b=c", SPACES: "  ", OPTION: "--setenv" },
    command: [
      "python3",
      "-c",
      "import os; print(sorted((k, v) for k, v in os.environ.items() if k in ('dotted.name', 'lower', 'QUOTES', 'EQUALS', 'SPACES', 'OPTION')))",
    ],
    needs: ["python3"],
  },
  { name: "a PATH of its own", env: { PATH: "/usr/bin:/bin" }, script: ["echo $PATH; type -P env"] },
  inDirectory("with space"),
  inDirectory("Verzeichnis mit ü, 目录", { refusedBy: oddInProfile }),
  inDirectory("comma,colon:semicolon;equals=", { refusedBy: oddInProfile }),
  inDirectory("star*question?[brackets]{braces}", { refusedBy: oddInProfile }),
  inDirectory("quote' double\" dollar$HOME back\\slash", { refusedBy: oddInProfile }),
  inDirectory("-dash"),
  inDirectory("~tilde"),
  inDirectory("percent%s #hash", { refusedBy: oddInProfile }),
  inDirectory("line\nbreak", { refusedBy: oddInProfile }),
];

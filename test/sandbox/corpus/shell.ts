/** The language of the shell: expansions, control flow, functions, traps, endings. */

import type { CorpusCase } from "./case.ts";

export const shellCases: readonly CorpusCase[] = [
  {
    name: "command substitution, also by backticks and nested",
    script: ['a=$(echo one; echo two); b=`echo three`; echo "$a|$b|$(echo "$(echo nested)")"'],
  },
  {
    name: "process substitution in both directions",
    script: [
      "diff <(printf 'a\\nb\\n') <(printf 'a\\nc\\n')",
      'echo "code $?"',
      "paste <(seq 3) <(seq 4 6)",
      "exec 5> >(sort -r > reversed); p=$!; seq 5 >&5; exec 5>&-; wait $p; cat reversed",
    ],
  },
  {
    name: "pipelines and pipefail",
    script: [
      'false | true; echo "$? ${PIPESTATUS[*]}"',
      "false | true | (exit 3) | true; echo ${PIPESTATUS[*]}",
      "set -o pipefail; false | true; echo $?",
      "seq 100 | grep 7 | wc -l",
    ],
  },
  {
    name: "here documents and here strings",
    script: [
      "name=world",
      "cat <<EOF",
      "hello $name $((1 + 1))",
      "EOF",
      "cat <<'EOF'",
      "hello $name",
      "EOF",
      "cat <<-EOF",
      "\t\tindented",
      "\tEOF",
      'tr a-z A-Z <<< "a here string"',
      'wc -c <<< "$(seq 20000)"',
    ],
  },
  {
    name: "arithmetic",
    script: [
      "echo $((7 / 2)) $((7 % 3)) $((2 ** 40)) $((0x1f)) $((2#1011)) $((1 ? 5 : 6))",
      "((i = 5, i++)); let 'j = i << 2'; echo $i $j",
      "for ((k = 0; k < 3; k++)); do printf '%d ' $k; done; echo",
    ],
  },
  {
    name: "arrays, by index and by name",
    script: [
      'a=(one "two words" three); a+=(four); echo "${#a[@]} ${a[1]} ${a[@]:2:2} ${!a[*]}"',
      'declare -A m=([x]=1 [y]=2); for k in $(printf "%s\\n" "${!m[@]}" | sort); do echo "$k=${m[$k]}"; done',
      'mapfile -t lines < <(seq 3); echo "${lines[2]}"',
    ],
  },
  {
    name: "expansions of parameters",
    script: [
      "v=path/to/file.tar.gz; echo ${v##*/} ${v%%.*} ${v%.*} ${v/to/from} ${v^^} ${#v} ${v:5:2}",
      "echo ${unset:-default} ${unset:=set} $unset ${v:+there}",
      "set -- a b c; echo $# $* ${@:2}; shift; echo $1",
      "printf '%q\\n' \"it's\"",
    ],
  },
  {
    name: "traps on exit, errors and own signals",
    script: [
      "trap 'echo leaving' EXIT",
      "trap 'echo \"error $?\"' ERR",
      "trap 'echo usr1' USR1",
      "false; (exit 3); kill -USR1 $$; echo end",
    ],
  },
  {
    name: "subshells and groups keep their variables apart",
    script: ["x=1; (x=2; cd /; echo $x); { x=3; }; echo $x; [ -f marker ] || touch marker; (exit 4); echo $?"],
  },
  { name: "set -e ends at the first failure", script: ["set -e; echo before; false; echo never"], exits: 1 },
  {
    name: "set -u ends at an unset variable",
    script: ['set -u; echo before; echo "$no_such"; echo never'],
    exits: 127,
  },
  {
    name: "read loops, also without a last newline",
    script: [
      'printf "a b c\\nd e" | while read -r first rest || [ -n "$first" ]; do echo "[$first][$rest]"; done',
      "IFS=: read -r one two < <(echo x:y:z); echo $two",
      "while read -r -n 1 c; do printf '<%s>' \"$c\"; done <<< abc; echo",
    ],
  },
  {
    name: "a coprocess answers line by line",
    script: [
      'coproc ECHO { while read -r line; do echo "got $line"; done; }',
      'pid=$ECHO_PID; exec 5>&${ECHO[1]} 6<&${ECHO[0]}; eval "exec ${ECHO[1]}>&- ${ECHO[0]}<&-"',
      'for word in one two; do echo $word >&5; read -r answer <&6; echo "$answer"; done',
      "exec 5>&-; wait $pid; echo $?",
    ],
  },
  {
    name: "printf and its formats",
    script: ["printf '%05d|%-6s|%x|%.3f|%b|%c\\n' 42 ab 255 3.14159 'tab\\there' xyz; printf '%s,' a b c; echo"],
  },
  {
    name: "globbing, extended, hidden and recursive",
    files: { "a1.txt": "", "a2.txt": "", "b.md": "", ".hidden": "", "deep/er/c.txt": "" },
    script: [
      "export LC_ALL=C; shopt -s extglob globstar nullglob",
      "echo a?.txt; echo *.md; echo !(*.txt); echo **/*.txt; echo [[:alpha:]]*.txt; echo none*; echo .h*",
    ],
  },
  { name: "brace expansion", script: ["echo {a,b}{1..3} {01..10..3} pre{,fix}; mkdir -p src/{lib,bin}/x; ls src"] },
  {
    name: "umask decides the modes of new files",
    script: ["umask; umask 077; touch private; mkdir closed; umask 002; touch shared; stat -c '%a %n' *"],
  },
  {
    name: "functions, locals, recursion and getopts",
    script: [
      "fib() { local n=$1; ((n < 2)) && { echo $n; return; }; echo $(($(fib $((n - 1))) + $(fib $((n - 2))))); }",
      "fib 9",
      'opts() { local OPTIND; while getopts ab:c o; do echo "$o ${OPTARG-}"; done; }; opts -a -b value -c',
      "case file.txt in *.md) echo md ;; *.txt) echo text ;; esac",
    ],
  },
  {
    name: "all exit codes from 0 to 255",
    script: [
      "for n in {0..255}; do (exit $n); [ $? = $n ] || echo wrong $n; done; bash -c 'exit 256'; echo $?; exit 255",
    ],
    exits: 255,
  },
  { name: "exit code 7", script: ["exit 7"], exits: 7 },
  {
    name: "a command that is not found",
    script: ["no-such-command-here; echo $?; exec no-such-command-here"],
    exits: 127,
  },
  {
    name: "a file that may not be executed",
    files: { plain: "echo never\n" },
    script: ["./plain; echo $?; exec ./plain"],
    exits: 126,
  },
  {
    name: "children that die of signals, as the shell counts them",
    script: [
      "ulimit -c 0",
      'for s in HUP INT QUIT ILL ABRT FPE KILL SEGV PIPE TERM; do bash -c "kill -$s \\$\\$"; echo $s $?; done 2>/dev/null',
    ],
  },
  { name: "the command itself dies of SIGTERM", script: ["echo last; kill -TERM $$"], exits: 143 },
  { name: "the command itself dies of SIGKILL", script: ["echo last; kill -KILL $$"], exits: 137 },
  { name: "the command itself dies of SIGSEGV", script: ["ulimit -c 0; echo last; kill -SEGV $$"], exits: 139 },
  {
    name: "plain sh, and a script with an interpreter line",
    files: { "run.sh": '#!/bin/sh\necho "$0 $1"\n', env: "#!/usr/bin/env bash\necho ${BASH_VERSINFO[0]}\n" },
    script: ["sh -c 'echo $0 $1' name arg; chmod +x run.sh env; ./run.sh x; ./env; . ./run.sh y"],
  },
  {
    name: "a login shell",
    script: ["bash -lc 'shopt -q login_shell && echo login; echo \"$1\"' bash arg 2>/dev/null | tail -n 2"],
  },
  {
    name: "an interactive shell without a terminal",
    script: ["bash --norc -ic 'case $- in *i*) echo interactive ;; esac; echo \"${PS1:+prompt}\"' 2>/dev/null"],
  },
  {
    name: "length and case of text beyond ASCII",
    script: ['export LC_ALL=C.UTF-8; s="Grüße 你好"; echo ${#s} "${s^^}" "${s:0:5}"; LC_ALL=C; echo ${#s}'],
  },
  {
    name: "a program text that is very long",
    script: ["x=$(printf 'x%.0s' {1..50000}); eval \"echo \\${#x} ; y=$x\"; echo ${#y}; /bin/echo $x $x | wc -c"],
  },
  {
    name: "tracing to a descriptor of its own",
    script: ["exec 9> trace; BASH_XTRACEFD=9; set -x; echo one; : two; set +x; cat trace"],
  },
];

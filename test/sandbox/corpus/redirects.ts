/** Devices, descriptors and redirections. */

import type { CorpusCase } from "./case.ts";

export const redirectCases: readonly CorpusCase[] = [
  {
    name: "/dev/null takes everything and gives nothing",
    script: [
      "echo gone > /dev/null; wc -c < /dev/null; cat /dev/null; ls no-such 2> /dev/null; echo $?; : > /dev/null",
    ],
  },
  {
    name: "/dev/zero",
    script: [
      "head -c 100000 /dev/zero | sha256sum; dd if=/dev/zero of=zeros bs=4k count=8 status=none; stat -c %s zeros",
    ],
  },
  {
    name: "/dev/full is full",
    script: [
      "echo x > /dev/full; echo $?; cat /etc/hostname > /dev/full 2>/dev/null || echo failed; head -c 3 /dev/full | od -An -c",
    ],
  },
  {
    name: "/dev/urandom and /dev/random",
    script: [
      "head -c 32 /dev/urandom | wc -c; a=$(head -c 16 /dev/random | od -An -tx1); [ ${#a} = 48 ] && echo random",
    ],
  },
  {
    name: "/dev/stdin, /dev/stdout and /dev/stderr by name",
    script: [
      "echo in | cat /dev/stdin; echo out > /dev/stdout; echo err > /dev/stderr",
      "echo tee | tee /dev/stderr /dev/stdout 2>/dev/null; { echo both > /dev/stderr; } 2>&1",
    ],
  },
  {
    name: "/dev/fd and /proc/self/fd by number",
    script: [
      "exec 7<<< seven; cat /dev/fd/7; echo eight | { cat /proc/self/fd/0; }; cat /dev/fd/8 8<<< direct; ls /dev/fd | head -3",
    ],
  },
  {
    name: "stdin is at its end at once",
    script: ["read -r line; echo $?; cat | wc -c; wc -l < /dev/stdin"],
  },
  {
    name: "exec redirections of the whole shell",
    script: [
      "exec 3> out.txt 4>&1; echo file >&3; exec >> out.txt; echo appended; exec >&4 3>&-; cat out.txt; exec 5<> out.txt; read -r l <&5; echo $l",
    ],
  },
  {
    name: "order of redirections, append, both streams, no clobber",
    script: [
      "{ echo o; echo e >&2; } > one 2>&1; { echo o; echo e >&2; } 2>&1 > two; { echo o; echo e >&2; } &> three",
      "echo more >> one; echo all &>> three; set -o noclobber; echo x > one; echo $?; echo y >| two; cat one two three",
    ],
  },
  {
    name: "tee into process substitutions",
    script: [
      "seq 10 | tee >(wc -l > lines) >(sha256sum > digest) > copy; wait; while [ ! -s lines ] || [ ! -s digest ]; do :; done; cat lines digest",
    ],
  },
  {
    name: "yes into head, and the signal for it",
    script: ["yes | head -n 3; echo ${PIPESTATUS[*]}; yes line | head -c 20 | wc -c"],
  },
  {
    name: "a megabyte through a pipeline, byte for byte",
    script: ["seq 200000 > numbers; cat numbers | tac | tac | cmp - numbers && echo same; sha256sum < numbers"],
  },
  {
    name: "half a megabyte on stdout",
    script: ["seq 80000; echo and some on stderr >&2"],
  },
  {
    name: "there is no terminal to be had",
    script: [
      "tty; if (exec < /dev/tty) 2> /dev/null; then echo a terminal; else echo none; fi; [ -t 0 ] || [ -t 1 ] || echo no",
    ],
  },
  {
    name: "a pseudoterminal of its own",
    needs: ["script"],
    script: [
      "script -qec 'test -t 0 && test -t 1 && echo on a terminal' /dev/null < /dev/null | tr -d '\\r\\004\\b^D'",
    ],
  },
  {
    name: "/dev/shm is a place to write",
    script: ["f=$(mktemp /dev/shm/corpus.XXXXXX) && echo shared > $f && cat $f && rm $f && echo removed"],
  },
  {
    name: "devices are devices",
    script: [
      "for d in null zero full random urandom; do stat -c '%F %t:%T' /dev/$d; done; [ -c /dev/ptmx ] && echo ptmx",
    ],
  },
];

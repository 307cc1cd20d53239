/** Who and where a command is: user, home, environment, names, what the kernel shows. */

import type { CorpusCase } from "./case.ts";

export const placeCases: readonly CorpusCase[] = [
  { name: "the user is the same", script: ['id -u; id -g; whoami; id; echo "$UID $EUID"; groups'] },
  {
    name: "users and groups by name",
    script: [
      'getent passwd root | cut -d: -f1,3,4,7; getent passwd "$(id -u)" | cut -d: -f1,3,6; getent group root; id -un 0; [ ~root = /root ] && echo home; getent passwd no-such-user; echo $?',
    ],
  },
  {
    name: "the home directory is where it was, and takes files",
    script: [
      "cd ~ && pwd && f=$(mktemp ~/.corpus.XXXXXX) && echo x > $f && cat $f && rm $f && echo removed; echo $HOME; cd && pwd; mkdir -p ~/.cache && echo cache",
    ],
  },
  {
    name: "exactly the same environment",
    env: { GREETING: "hello wörld", EMPTY: "" },
    script: ["export -p | grep -vE ' (OLDPWD|SHLVL|_)='"],
  },
  {
    name: "the environment as the first process has it",
    differs: "bubblewrap adds PWD, which explain tells",
    script: ["tr '\\0' '\\n' < /proc/self/environ | grep -v ^_= | sort; tr '\\0' '\\n' < /proc/$$/environ | sort"],
  },
  {
    name: "env, env -i and variables for one command",
    script: [
      "X=1 bash -c 'echo $X'; env Y=2 printenv Y; env -i /usr/bin/env; env -i PATH=$PATH sh -c 'echo ${HOME-none}'; env -u HOME bash -c 'echo ${HOME-gone}'",
    ],
  },
  {
    name: "programs are found where they were",
    needs: ["which"],
    script: ["which bash sh ls; command -v sort; type -t cd; type -P env; which no-such-program; echo $?; echo $PATH"],
  },
  {
    name: "name of the kernel and the machine",
    script: ['uname -srm; arch; getconf PAGE_SIZE; nproc; [ -n "$(hostname)" ] && echo named'],
  },
  {
    name: "name of this machine",
    script: ["hostname; uname -n; cat /proc/sys/kernel/hostname"],
    differs: "a namespace of its own may have a host name of its own",
  },
  {
    name: "own entry in /proc",
    script: [
      "exec 2>/dev/null; readlink /proc/self/exe; cat /proc/self/comm; tr '\\0' ' ' < /proc/$$/cmdline | head -c 8; grep -E '^(Name|Uid|Gid|Groups|Umask)' /proc/self/status; [ /proc/$$ -ef /proc/self ] || readlink /proc/$$/cwd; ls /proc/self/task | wc -l; echo n > /proc/self/comm; head -c 4 /proc/self/exe | od -An -c; wc -l < /proc/self/mounts | grep -c .",
    ],
  },
  {
    name: "the kernel's tables",
    script: [
      "grep -c ^processor /proc/cpuinfo; grep -o ^MemTotal /proc/meminfo; cut -d' ' -f1-2 /proc/version; wc -w < /proc/loadavg; cat /proc/sys/fs/pipe-max-size; [ -s /proc/uptime ] && echo up; grep -c cpu0 /proc/stat; cat /proc/filesystems | grep -cw proc; head -c 36 /proc/sys/kernel/random/uuid | wc -c",
    ],
  },
  {
    name: "limits are the same",
    script: [
      "ulimit -n; (ulimit -n 64; ulimit -n; exec 70> x) 2>/dev/null; echo $?; ulimit -Sa | grep -v 'max user'; ulimit -Ha | grep -v 'max user'; cut -c1-66 /proc/self/limits | grep -v processes",
    ],
  },
  {
    name: "priority, and being nice",
    script: [
      "nice; nice -n 5 nice; nice -n 3 sh -c nice; cut -d' ' -f19 /proc/self/stat; cat /proc/self/oom_score_adj; chrt -p $$ | sed 's/[0-9]* *.s current/X/'; taskset -pc $$ | sed 's/.*: //'",
    ],
    needs: ["chrt", "taskset"],
  },
  {
    name: "signals are at their default, and none is blocked",
    script: [
      "grep -E '^Sig(Ign|Blk|Cgt)' /proc/self/status; bash -c 'trap' ; (trap '' TERM; grep SigIgn /proc/self/status)",
    ],
  },
  {
    name: "processes as ps sees them",
    needs: ["ps"],
    script: [
      'ps -o comm= -p $$; sleep 60 & until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done; ps -o ppid= -p $! | grep -cw $$; ps --ppid $$ -o comm= | grep -c sleep; kill $!; ps -p 99999999 > /dev/null; echo $?',
    ],
  },
  {
    name: "a terminal's abilities by name",
    needs: ["tput"],
    script: [
      "TERM=xterm tput bold | od -An -c; TERM=xterm-256color tput colors; TERM=vt100 tput cols; TERM=dumb tput bold; echo $?; TERM=no-such tput bold 2>/dev/null; echo $?",
    ],
  },
  {
    name: "locales",
    needs: ["locale"],
    script: [
      "locale -a | sort; LC_ALL=C.UTF-8 locale charmap; LC_ALL=C locale charmap; LC_ALL=C.UTF-8 locale -k decimal_point",
    ],
  },
  {
    name: "zones",
    script: [
      "date +%Z; TZ=Asia/Kolkata date -d @0 +%z; ls /usr/share/zoneinfo/Europe | grep -c Berlin; TZ=Europe/Berlin python3 -c 'import time; print(time.tzname)'",
    ],
    needs: ["python3"],
  },
  {
    name: "the system's own description",
    script: [
      "grep ^ID= /etc/os-release; . /etc/os-release; echo $VERSION_ID; head -1 /etc/debian_version 2>/dev/null; [ -r /etc/passwd ] && [ -r /etc/group ] && [ -r /etc/hosts ] && [ -r /etc/nsswitch.conf ] && echo readable; wc -l < /etc/shells",
    ],
  },
  {
    name: "services, protocols and certificates",
    needs: ["getent", "openssl"],
    script: [
      "getent services ssh; getent protocols tcp; f=/etc/ssl/certs/ca-certificates.crt; if [ -e $f ]; then openssl storeutl -noout -certs $f | tail -1; ls /etc/ssl/certs | wc -l; fi; openssl version -d",
    ],
  },
  { name: "libraries are found", script: ["ldd /bin/bash | awk '{print $1, $3}' | sort; /sbin/ldconfig -p | wc -l"] },
  {
    name: "directories of the system are there and closed for writing to a user",
    script: [
      "for d in / /bin /usr /usr/bin /usr/lib /etc /tmp /var /var/tmp /dev /proc /sys /run /home /opt; do [ -d $d ] && echo $d; done; stat -c '%a %F' /tmp /bin/. /usr/bin",
    ],
    differs: "a sandbox need not show every directory",
  },
  {
    name: "/sys, as far as programs read it",
    script: [
      "cat /sys/devices/system/cpu/online; ls /sys/class/net | grep -x lo; [ -d /sys/fs/cgroup ] && echo cgroup; true",
    ],
    differs: "a sandbox need not show /sys",
  },
];

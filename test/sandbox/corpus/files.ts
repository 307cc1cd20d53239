/** Making, moving, finding, locking and packing files. */

import type { CorpusCase } from "./case.ts";

/** What every archive of this file is made of: two sizes, a link, an executable, a name with a space. */
const tree = [
  "mkdir -p in/deep; seq 1000 > in/numbers; echo '#!/bin/sh' > in/run; chmod 755 in/run; ln -s numbers in/link",
  "echo x > 'in/deep/two words'; touch -h -d @1700000000 in/* in/deep/* in/deep in",
];

export const fileCases: readonly CorpusCase[] = [
  {
    name: "links, symbolic, hard, dangling and relative",
    script: [
      "echo data > f; ln f hard; ln -s f soft; ln -s nowhere dangling; mkdir d; ln -sr f d/up; stat -c '%h %F %N' f soft dangling",
      "cat soft d/up hard; readlink d/up; [ -e dangling ] || echo dangles; [ f -ef hard ] && echo same; rm f; cat hard",
    ],
  },
  {
    name: "cp -a keeps modes, times and links",
    script: [
      ...tree,
      "cp -a in out; diff -r in out && stat -c '%A %Y %N' out/run out/link out/numbers; cp --reflink=auto in/run r; cp -r --parents in/deep r2 2>/dev/null; echo $?",
    ],
  },
  {
    name: "mv over what is there, and between directories",
    script: [
      "echo a > a; echo b > b; mkdir d; mv a b; cat b; mv -n b d/; mv d e; mv e/b e/c; ls -R; mv nothing x 2>/dev/null; echo $?",
    ],
  },
  {
    name: "modes, also setuid, sticky and none at all",
    script: [
      "touch a b c d; chmod 640 a; chmod u=rwx,go= b; chmod a-rwx c; chmod +t,g+s . 2>/dev/null; mkdir s; chmod 1777 s; chmod 4755 d",
      "stat -c '%a %n' a b c d s; chmod 755 .; install -m 711 a e; stat -c %a e",
    ],
  },
  {
    name: "what root makes is root's, and a user's the user's",
    script: [
      'touch f; mkdir d; [ -O f ] && [ -G d ] && echo mine; [ "$(stat -c %u f)" = "$(id -u)" ] && stat -c \'%u %g %U %G\' f d',
    ],
  },
  {
    name: "chown as far as the user may",
    script: [
      'touch f; chown "$(id -u):$(id -g)" f && echo to myself; [ "$(id -u)" = 0 ] || chown 0 f 2>/dev/null || echo to nobody else; stat -c \'%u %g\' f',
    ],
  },
  {
    name: "find by name, type, size and time, with -exec and -delete",
    script: [
      ...tree,
      "export LC_ALL=C; find in -type f | sort; find in -name 'n*' -size +1k -exec wc -l {} \\;; find in -type f -exec ls -1 {} + | wc -l",
      "find in -newermt 2020-01-01 -perm -u+x -type f; find in -type l -delete; find in -depth -delete; ls | wc -l",
    ],
  },
  {
    name: "xargs, in parallel and with odd names",
    script: [
      "seq 20 | xargs -P 4 -n 3 echo | tr ' ' '\\n' | sort -n | paste -sd,; printf 'a b\\0c' | xargs -0 -n1 touch; ls; printf '1\\n2\\n' | xargs -I{} echo '<{}>'; echo x | xargs false; echo $?",
    ],
  },
  {
    name: "split and put together again",
    script: [
      "seq 5000 > n; split -n 3 -d n part.; split -l 2000 n line.; cat part.* | cmp - n && cat line.* | cmp - n && ls | paste -sd,; csplit -sz n 2500 '{0}'; wc -l xx0*",
    ],
  },
  {
    name: "dd, truncate, fallocate and holes",
    script: [
      "dd if=/dev/zero of=f bs=1k seek=100 count=1 status=none; truncate -s 1M sparse; stat -c %s f sparse; truncate -s 3 f; fallocate -l 8192 full && stat -c %s full; printf X | dd of=full bs=1 seek=5 conv=notrunc status=none; od -An -tx1 -N 8 full",
    ],
  },
  {
    name: "mktemp in the usual place, and in TMPDIR",
    script: [
      "f=$(mktemp) && echo x > $f && cat $f && rm $f; d=$(mktemp -d) && touch $d/y && ls $d && rm -r $d; mkdir own; TMPDIR=$PWD/own mktemp -t corpus.XXX > name; cmp <(ls own) <(xargs basename < name) && echo in TMPDIR; rm -r own name",
    ],
  },
  {
    name: "/tmp and /var/tmp take files, fifos and programs",
    otherwiseIn: { firejail: "its /var/tmp runs no programs" },
    script: [
      "for d in /tmp /var/tmp; do t=$(mktemp -d $d/corpus.XXXXXX) || continue; printf '#!/bin/sh\\necho ran\\n' > $t/p; chmod +x $t/p; $t/p; mkfifo $t/q; [ -p $t/q ] && echo fifo; rm -r $t; done",
    ],
  },
  {
    name: "names that are long, hidden, odd or of other scripts",
    script: [
      "export LC_ALL=C.UTF-8; mkdir 'with space' '-dash' \"$(printf 'n%.0s' {1..255})\"; touch ./-dash/x 'with space/ä' 你好 $'new\\nline' '*'; find . -mindepth 1 | wc -l; ls -- -dash; ls -1 | wc -l; p=$(printf 'd%.0s/' {1..200}); mkdir -p $p && (cd $p && pwd | wc -c) > /dev/null && echo deep",
    ],
  },
  {
    name: "many small files",
    script: [
      "mkdir m; for i in {1..2000}; do echo $i > m/$i; done; ls m | wc -l; cat m/* | sort -n | tail -1; find m -type f -delete; rmdir m && echo gone",
    ],
  },
  {
    name: "locks with flock, waiting and refusing",
    needs: ["flock"],
    script: [
      "exec 9> lock; flock 9; flock -n lock -c 'echo never' || echo held; (flock lock -c 'echo after' ) & sleep 0.1; echo before; flock -u 9; wait; flock -xn lock true; echo $?",
    ],
  },
  { name: "a fifo between two processes", script: ["mkfifo p; (seq 5 > p) & paste -sd+ p; wait; echo $?"] },
  {
    name: "extended attributes, as far as there are any",
    needs: ["python3"],
    script: [
      'python3 -c \'import os; open("f", "w").close(); os.setxattr("f", "user.note", b"kept"); print(os.getxattr("f", "user.note"))\' 2>/dev/null || echo none',
    ],
  },
  {
    name: "ls -la of the tree, du and df",
    script: [
      ...tree,
      "LC_ALL=C ls -la --time-style=+%s in | cut -c1-10 ; (cd in && LC_ALL=C ls -FR); du -b in/numbers | cut -f1; df . | wc -l; df -P . | awk 'NR == 2 { print ($4 > 0) }'",
    ],
  },
  {
    name: "realpath, pwd, dirname and a link to the directory",
    script: [
      'mkdir -p a/b; ln -s a/b l; cd l; [ "$(pwd -P)" = "$(realpath .)" ] && basename "$(pwd -P)"; basename "$PWD"; dirname /x/y/z; cd ..; realpath --relative-to=. /; [ "$PWD" = "$OLDPWD" ] || pwd | grep -c .',
    ],
  },
  {
    name: "the working directory by its path",
    script: [
      'pwd; readlink /proc/self/cwd; stat -c %F "$PWD"; realpath .; touch "$PWD/by-path"; (cd .. && cd - > /dev/null && pwd); ls "$(dirname "$PWD")"',
    ],
  },
  {
    name: "stat, test and times",
    script: [
      "echo x > f; touch -d '2024-01-02 03:04:05 UTC' f; stat -c '%s %Y %F %a' f; TZ=UTC stat -c %y f; touch g; [ g -nt f ] && echo newer; [ -s f ] && [ -r f ] && [ -w f ] && echo mine; date -r f -u +%F",
    ],
  },
  {
    name: "tar, plain and compressed, in and out",
    needs: ["tar", "gzip"],
    script: [
      ...tree,
      "tar --sort=name -cf a.tar in; tar -tvf a.tar --full-time --utc | awk '{print $1, $2, $3, $6}'; tar -cf - --sort=name in | gzip -n > a.tgz; mkdir out; tar -xzf a.tgz -C out; diff -r in out/in && stat -c '%a %Y' out/in/run; rm -r out; sha256sum < a.tar",
    ],
  },
  {
    name: "gzip, bzip2, xz and zstd there and back",
    needs: ["bzip2", "xz", "zstd"],
    script: [
      "seq 20000 > n; for z in 'gzip -n' bzip2 xz 'zstd -q'; do $z -c < n > z; ${z%% *} -dc < z | cmp - n && echo ${z%% *} $(stat -c %s z); done; tar -cJf a.tar.xz n && tar -tf a.tar.xz; zcat <(gzip -c n) | tail -1; rm z a.tar.xz",
    ],
  },
  {
    name: "zip and unzip",
    needs: ["zip", "unzip"],
    script: [
      ...tree,
      "zip -qrX a.zip in; unzip -Z1 a.zip | sort; mkdir out; unzip -q a.zip -d out; diff -r in out/in && echo same; TZ=UTC unzip -p a.zip in/run; rm a.zip; rm -r out",
    ],
    env: { TZ: "UTC" },
  },
];

/** git: a repository's whole life, made inside the working directory. */

import type { CorpusCase } from "./case.ts";

/** Names and dates of their own, and no configuration of anybody's, so that every commit has the same digest anywhere. */
const fixed = [
  "export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.test GIT_COMMITTER_NAME=Ben GIT_COMMITTER_EMAIL=ben@example.test",
  "export GIT_AUTHOR_DATE='1700000000 +0100' GIT_COMMITTER_DATE='1700000001 +0100' GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1",
  "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=init.defaultBranch GIT_CONFIG_VALUE_0=main GIT_PAGER=cat LC_ALL=C.UTF-8",
];
const committed = [
  ...fixed,
  "git init -q r && cd r && echo one > a && mkdir d && echo two > d/b && git add . && git commit -qm 'First: ü'",
];
/** The index holds times and inode numbers. */
const common = { needs: ["git"], ignores: ["index"] } as const;

export const gitCases: readonly CorpusCase[] = [
  {
    ...common,
    name: "git init, add, commit, status and log",
    script: [
      ...committed,
      "git status --porcelain; echo more >> a; touch new; git status --short; git log --format='%H %an %s'; git rev-parse HEAD; git ls-tree -r HEAD",
    ],
  },
  {
    ...common,
    name: "git diff, add -p by input, reset and restore",
    script: [
      ...committed,
      "echo more >> a; git diff; printf 'y\\n' | git add -p > /dev/null; git diff --cached --stat; git reset -q; git restore a; git status --porcelain; git diff --exit-code; echo $?",
    ],
  },
  {
    ...common,
    name: "git branch, switch, merge and a conflict",
    script: [
      ...committed,
      "git switch -qc side; echo side > a; git commit -qam side; git switch -q main; echo main > a; git commit -qam main; git merge side; echo $?; cat a; echo both > a; git add a; git commit -qm merged; git log --graph --oneline; git branch -d side",
    ],
  },
  {
    ...common,
    name: "git rebase and cherry-pick",
    script: [
      ...committed,
      "git switch -qc side; echo s > s; git add s; git commit -qm side; git switch -q main; echo m > m; git add m; git commit -qm main; git switch -q side; git rebase -q main; git log --format=%s; git switch -q main; git cherry-pick side > /dev/null; ls",
    ],
  },
  {
    ...common,
    name: "git stash and tag",
    script: [
      ...committed,
      "echo w > a; git stash -q; cat a; git stash list; git stash pop -q; cat a; git tag light; git tag -a -m 'a note' v1; git describe; git show -s --format=%H v1^{commit}; git tag -n",
    ],
  },
  {
    ...common,
    name: "git worktree",
    script: [
      ...committed,
      "git worktree add -q ../w -b other; cd ../w; git branch --show-current; echo x > x; git add x; git commit -qm x; git worktree list | awk '{print $2, $3}'; cd ../r; git worktree remove --force ../w; git log --format=%s other",
    ],
  },
  {
    ...common,
    name: "git submodule of a local repository",
    script: [
      ...committed,
      "cd ..; git init -q top; cd top; git -c protocol.file.allow=always submodule --quiet add ../r sub; git commit -qm with; git submodule status | cut -c1-41; cat .gitmodules sub/a; git submodule foreach -q pwd",
    ],
  },
  {
    ...common,
    name: "git clone by path, and a push back",
    script: [
      ...committed,
      "cd ..; git clone -q --bare r bare.git; git clone -q bare.git c; cd c; git remote get-url origin; echo p > p; git add p; git commit -qm pushed; git push -q origin HEAD:refs/heads/topic; git -C ../bare.git log --format=%s topic",
    ],
  },
  {
    ...common,
    name: "git clone by file://, shallow, and fetch",
    script: [
      ...committed,
      "echo 2 >> a; git commit -qam Second; cd ..; git clone -q --depth 1 file://$PWD/r s; cd s; git log --format=%s; git fetch -q --unshallow; git log --format=%s; git fsck --no-progress",
    ],
  },
  {
    ...common,
    name: "git with hooks",
    script: [
      ...committed,
      "printf '#!/bin/sh\\necho hook ran >&2\\n! git diff --cached | grep -q FORBIDDEN\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo FORBIDDEN >> a; git commit -qam bad; echo $?; git restore a; echo fine >> a; git commit -qam good; git log --format=%s",
    ],
  },
  {
    ...common,
    name: "git gc, packs, archive and bundle",
    script: [
      ...committed,
      "for i in {1..30}; do echo $i >> a; git commit -qam $i; done; git -c pack.threads=1 gc -q; git count-objects -v | grep -E '^(count|in-pack)'; git archive HEAD | tar -t; git bundle create -q ../b HEAD; git bundle verify -q ../b; git verify-pack .git/objects/pack/*.idx; echo $?",
    ],
    ignores: ["index", "objects", "b"],
  },
  {
    ...common,
    name: "git blame, grep, bisect and apply",
    script: [
      ...committed,
      "for i in 1 2 3 4 5; do echo $i >> a; git commit -qam $i; done; git blame -s a | cut -d' ' -f1 | uniq | wc -l; git grep -n 3; git bisect start -q HEAD HEAD~5 > /dev/null; git bisect run sh -c '! grep -q 4 a' | grep 'first bad'; git bisect reset -q; git diff HEAD~2 > ../p; git checkout -q HEAD~2; git apply ../p; cat a",
    ],
  },
  {
    ...common,
    name: "git config of the user's own",
    script: [
      "export HOME=$PWD/home; mkdir home; git config --global user.name Ann; git config --global alias.s 'status --short'; git init -q r; cd r; touch n; git s; git config user.name; git config --list --show-scope | grep -c global",
    ],
  },
  {
    ...common,
    name: "git as the system has it",
    script: ["git --exec-path; git config --system --list 2>/dev/null | wc -l; git var GIT_EDITOR"],
  },
];

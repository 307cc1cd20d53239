/** Programs that turn text into text. */

import type { CorpusCase } from "./case.ts";

const table = "id,name,points\n1,Ada,90\n2,Ben,75\n3,Ço,82\n";

export const textCases: readonly CorpusCase[] = [
  {
    name: "sort by number, key, reversed, unique, in a locale",
    script: [
      "printf '10\\n9\\n2\\n2\\n' | sort -nu; printf 'b 1\\na 2\\n' | sort -k2 -r",
      "printf 'ä\\nz\\na\\nZ\\n' | LC_ALL=C.UTF-8 sort; printf 'B\\na\\n' | LC_ALL=C sort; printf '1K\\n1M\\n10\\n' | sort -h",
    ],
  },
  {
    name: "sort of a large file with temporary files",
    script: [
      "seq 300000 | awk '{print ($1 * 7919) % 300007, $1}' > big; sort -n -S 1M big | sha256sum; sort -S 1M -T . -r big | head -2; rm big",
    ],
    timeoutMs: 120_000,
  },
  {
    name: "uniq, comm and join",
    script: [
      "printf 'a\\na\\nb\\n' | uniq -c; comm <(printf 'a\\nb\\n') <(printf 'b\\nc\\n')",
      "join <(printf '1 a\\n2 b\\n') <(printf '1 x\\n2 y\\n'); printf 'c\\nb\\na\\n' | tac | nl",
    ],
  },
  {
    name: "cut, tr, paste, fold, rev and column",
    files: { "t.csv": table },
    script: [
      "cut -d, -f2 t.csv; tr 'a-z' 'A-Z' < t.csv; tr -d '0-9' < t.csv; paste -sd+ <(seq 4); echo abcdefgh | fold -w 3; rev <<< abc",
    ],
  },
  {
    name: "sed, also in place and with a backup",
    files: { "t.csv": table },
    script: [
      "sed -n '2,3p' t.csv; sed -i.bak -E 's/([0-9]+)$/<\\1>/' t.csv; cat t.csv; sed -i '1d;$a end' t.csv; sed '/Ben/c changed' t.csv",
    ],
  },
  {
    name: "awk with fields, sums, functions and pipes",
    files: { "t.csv": table },
    script: [
      "awk -F, 'NR > 1 { sum += $3; n++ } END { printf \"%.2f\\n\", sum / n }' t.csv",
      'awk \'BEGIN { while (("seq 3" | getline x) > 0) print x * x; print "to a file" > "made"; print length("abc"), substr("abcdef", 2, 3) }\'',
    ],
  },
  {
    name: "grep, recursive, counted, inverted, with a context",
    files: {
      "src/a.ts": "const x = 1;\n// TODO one\nlet y;\n",
      "src/b/c.ts": "// TODO two\n",
      "src/bin": Uint8Array.of(0, 84, 0),
    },
    script: [
      "grep -rn TODO src | sort; grep -rlE 'x|y' src; grep -c . src/a.ts; grep -v TODO src/a.ts; grep -A1 TODO src/a.ts; grep -q no src/a.ts; echo $?",
    ],
  },
  {
    name: "diff and patch there and back",
    files: { old: "a\nb\nc\n", new: "a\nB\nc\nd\n" },
    needs: ["patch"],
    script: [
      "diff -u --label old --label new old new > change.diff; echo $?; cat change.diff; patch old change.diff; cmp old new && patch -R old < change.diff; cat old; diff -rq . . && echo same",
    ],
  },
  {
    name: "jq",
    needs: ["jq"],
    files: { "d.json": '{"items":[{"n":1,"t":"x"},{"n":2,"t":"ü"}]}' },
    script: [
      "jq -c '.items[] | select(.n > 1)' d.json; jq -r '[.items[].t] | join(\",\")' d.json; jq -n --arg a b '{$a}'; jq . <<< 'not json' 2>/dev/null; echo $?",
    ],
  },
  {
    name: "sqlite3 with a database on disk",
    needs: ["sqlite3"],
    script: [
      "sqlite3 d.db 'create table t(a, b); insert into t values (1, \"x\"), (2, \"y\"); select sum(a), group_concat(b) from t;'; sqlite3 -csv -header d.db 'select * from t'; sqlite3 d.db 'pragma journal_mode=wal; insert into t values (3, 4); select count(*) from t'",
    ],
    ignores: ["d.db"],
  },
  {
    name: "digests",
    script: [
      "printf abc | sha256sum; printf abc | md5sum; printf abc | cksum; echo data > f; sha512sum f > sums; sha512sum -c sums",
    ],
  },
  {
    name: "openssl digests, encryption and a certificate of its own",
    needs: ["openssl"],
    script: [
      "printf abc | openssl dgst -sha256; printf abc | openssl enc -aes-256-cbc -K $(printf '0%.0s' {1..64}) -iv $(printf '0%.0s' {1..32}) | base64",
      "openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -subj /CN=corpus -days 1 2>/dev/null; openssl x509 -in c.pem -noout -subject; rm k.pem c.pem",
    ],
  },
  {
    name: "base64, od, xxd and hexdump",
    needs: ["xxd"],
    script: [
      "printf 'h\\xc3\\xa9llo\\0' > b; base64 b; base64 b | base64 -d | cmp - b && od -An -tx1 -c b; xxd b; xxd -p b | xxd -r -p | cmp - b; echo $?",
    ],
  },
  {
    name: "date in another zone, and arithmetic with dates",
    script: [
      "TZ=Europe/Berlin date -d @1700000000 +'%F %T %Z'; TZ=America/New_York date -d @1700000000 +%H; date -u -d '2024-02-28 + 2 days' +%F; LC_ALL=C date -u -d @0",
    ],
  },
  {
    name: "seq, shuf with a seed, factor and numfmt",
    script: [
      "seq -s, 1 0.5 3; seq 5 | shuf --random-source=/dev/zero; factor 360; numfmt --to=iec 1048576; expr 3 \\* 4",
    ],
  },
  { name: "bc", needs: ["bc"], script: ["echo 'scale=10; 4*a(1)' | bc -l; echo '2^200' | bc"] },
  {
    name: "conversion of character sets",
    needs: ["iconv"],
    script: [
      "printf 'gr\\xfc\\xdfe' | iconv -f LATIN1 -t UTF-8; echo; printf 'ü' | iconv -f UTF-8 -t UTF-16LE | od -An -tx1; printf '\\x83\\x65' | iconv -f SHIFT_JIS -t UTF-8",
    ],
  },
  {
    name: "perl",
    needs: ["perl"],
    script: [
      "perl -MPOSIX -MList::Util=sum -e 'print floor(3.7), \" \", sum(1..10), \"\\n\"'; seq 3 | perl -pe 's/(\\d)/<$1>/'; perl -e 'exit 9'; echo $?",
    ],
  },
  {
    name: "what kind of file it is",
    needs: ["file"],
    files: { "a.json": "{}" },
    script: ["file -b a.json; file -b --mime-type /bin/sh -L; gzip -kn a.json; file -b --mime-type a.json.gz"],
  },
];

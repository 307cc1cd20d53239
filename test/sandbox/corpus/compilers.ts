/** Compilers, linkers and builders: a program from its text to its first words. */

import type { CorpusCase } from "./case.ts";

const hello =
  '#include <stdio.h>\n#include <math.h>\nint main(int c, char **v) { printf("hello %d %.1f\\n", c, sqrt(c * 16.0)); return c; }\n';
const makefile =
  "all: app\napp: main.o a.o b.o\n\t$(CC) -o $@ $^\n%.o: %.c\n\t$(CC) -O1 -c $< -o $@\nclean:\n\trm -f *.o app\n.PHONY: all clean\n";
const parts = {
  "main.c": '#include <stdio.h>\nint a(void); int b(void);\nint main(void) { printf("%d\\n", a() + b()); }\n',
  "a.c": "int a(void) { return 40; }\n",
  "b.c": "int b(void) { return 2; }\n",
};
const slow = 180_000;

/** Nothing is fetched: what Go needs is there already. */
const goOffline = { GOFLAGS: "-mod=mod", GOPROXY: "off", GOTOOLCHAIN: "local", GOTELEMETRY: "off" };

export const compilerCases: readonly CorpusCase[] = [
  {
    name: "gcc: compile, run, and see an error",
    needs: ["gcc"],
    files: { "h.c": hello },
    script: [
      "gcc -Wall -O2 -o h h.c -lm && ./h; echo $?; gcc -g -static -o s h.c -lm && ./s x; echo 'int main(' | gcc -xc - 2>/dev/null; echo $?; gcc -S -o - h.c | grep -c main:; gcc --version | head -1",
    ],
  },
  {
    name: "g++ with templates, exceptions and threads",
    needs: ["g++"],
    files: {
      "t.cc":
        '#include <iostream>\n#include <thread>\n#include <vector>\n#include <stdexcept>\nint main() { std::vector<int> v(4); std::vector<std::thread> t; for (int i = 0; i < 4; i++) t.emplace_back([&v, i] { v[i] = i; }); for (auto &x : t) x.join(); try { throw std::runtime_error("thrown"); } catch (std::exception &e) { std::cout << e.what() << v[3] << std::endl; } }\n',
    },
    script: ["g++ -std=c++17 -pthread -o t t.cc && ./t"],
    timeoutMs: slow,
  },
  {
    name: "a shared library, an archive, and what is in them",
    needs: ["gcc", "ar", "ld", "nm"],
    files: parts,
    script: [
      "gcc -fPIC -shared -o liba.so a.c; gcc -c b.c; ar rcsD libb.a b.o; gcc -o app main.c -L. -la -lb -Wl,-rpath,'$ORIGIN'; ./app; nm -D liba.so | grep -w a; ld -r -o both.o b.o; readelf -h app | grep Type; strip app; ./app; objdump -d b.o | grep -c ret",
    ],
  },
  {
    name: "make with two jobs, again, and clean",
    needs: ["make", "gcc"],
    files: { ...parts, Makefile: makefile },
    script: [
      "make -s -j2 && ./app; make; touch b.c; make -s -q; echo $?; make -s; make -s clean; ls; make no-such-target 2>/dev/null; echo $?",
    ],
  },
  {
    name: "cmake: configure, build and test",
    needs: ["cmake", "gcc"],
    files: {
      ...parts,
      "CMakeLists.txt":
        "cmake_minimum_required(VERSION 3.10)\nproject(app C)\nenable_testing()\nadd_executable(app main.c a.c b.c)\nadd_test(NAME runs COMMAND app)\n",
    },
    ignores: ["build"],
    script: [
      "cmake -S . -B build > /dev/null && cmake --build build > /dev/null && build/app && cd build && ctest | grep -oE '[0-9]+% tests passed'",
    ],
    timeoutMs: slow,
  },
  {
    name: "Java: compile, run and pack",
    needs: ["javac", "java"],
    files: {
      "Hello.java":
        'import java.util.concurrent.*;\npublic class Hello { public static void main(String[] a) throws Exception { var e = Executors.newFixedThreadPool(2); System.out.println(e.submit(() -> 6 * 7).get() + " " + System.getProperty("user.home") + " " + System.getProperty("user.name") + " " + System.getProperty("java.io.tmpdir")); e.shutdown(); System.out.println(java.security.MessageDigest.getInstance("SHA-256").digest("abc".getBytes())[0] + " " + javax.net.ssl.SSLContext.getDefault().getProtocol()); System.exit(3); } }\n',
    },
    script: [
      "javac Hello.java && java Hello; echo $?; java Hello.java > /dev/null; echo $?; java -Xmx64m -XX:+UseSerialGC -cp . Hello > /dev/null; echo $?",
    ],
    timeoutMs: slow,
  },
  {
    name: "cargo: a new program, built, run and tested without a network",
    needs: ["cargo", "rustc"],
    probe: { line: "cargo --version", otherwise: "cargo does not run for this user" },
    files: {
      "Cargo.toml": '[package]\nname = "hello"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/main.rs":
        'fn main() { println!("hello {}", std::env::args().count()); std::process::exit(6) }\n#[test]\nfn adds() { assert_eq!(1 + 1, 2); }\n',
    },
    ignores: ["target"],
    script: [
      "cargo build -q --offline && cargo run -q --offline -- x; echo $?; cargo test -q --offline 2>/dev/null | grep -o 'test result: ok'; target/debug/hello; echo $?; rustc --version; rustc --print sysroot",
    ],
    timeoutMs: slow,
  },
  {
    name: "cargo new, with version control",
    needs: ["cargo", "git"],
    probe: { line: "cargo --version", otherwise: "cargo does not run for this user" },
    script: [
      'cargo new -q --lib lib 2>/dev/null && cat lib/src/lib.rs | grep -c fn; cd lib && cargo metadata -q --offline --format-version 1 --no-deps | grep -o \'"name":"lib"\' | head -1; cargo check -q --offline; echo $?',
    ],
    ignores: ["target"],
    timeoutMs: slow,
  },
  {
    name: "go: build, run, format and list without a network",
    needs: ["go"],
    files: {
      "go.mod": "module example.test/hello\n\ngo 1.20\n",
      "main.go":
        'package main\n\nimport "os"\n\nfunc add(a, b int) int { return a + b }\n\nfunc main() {\n\tprintln("hello", add(len(os.Args), 41))\n\tos.Exit(6)\n}\n',
    },
    env: goOffline,
    script: ["go build -o hello . && ./hello 2>&1; echo $?; gofmt -l .; go env GOROOT; go list; rm -f hello"],
    timeoutMs: 300_000,
  },
  {
    name: "go: vet and test with a cache in the working directory",
    slow: true,
    needs: ["go"],
    files: {
      "go.mod": "module example.test/add\n\ngo 1.20\n",
      "add.go": "package add\n\nfunc add(a, b int) int { return a + b }\n",
      "add_test.go":
        'package add\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif add(1, 1) != 2 {\n\t\tt.Fatal()\n\t}\n}\n',
    },
    env: goOffline,
    ignores: [".go"],
    script: ["export GOCACHE=$PWD/.go GOPATH=$PWD/.go; go vet && go test ./... | cut -f1,2"],
    timeoutMs: 300_000,
  },
  {
    name: "message catalogues and substitution",
    needs: ["msgfmt", "envsubst"],
    files: { "de.po": 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "yes"\nmsgstr "ja"\n' },
    script: [
      "mkdir -p l/de/LC_MESSAGES; msgfmt -o l/de/LC_MESSAGES/m.mo de.po; msgunfmt l/de/LC_MESSAGES/m.mo | tail -1; X=1 envsubst <<< 'x is $X'",
    ],
  },
];

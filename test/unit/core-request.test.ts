/** The door: what is well-formed passes byte for byte, and every refusal says what was wrong. */

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RuntimeError } from "../../src/errors.ts";
import { checkRequest } from "../../src/request.ts";
import type { ExecuteOptions } from "../../src/runtime-types.ts";

function refusal(command: unknown, args: unknown = [], options: unknown = {}, code = "invalid_request"): string {
  try {
    checkRequest(command, args, options as ExecuteOptions);
  } catch (error) {
    if (error instanceof RuntimeError && error.code === code) {
      expect(error).toMatchObject({ backend: null, started: "no" });
      return error.message;
    }
    throw error;
  }
  throw new Error("It was accepted");
}
const accepted = (options: ExecuteOptions) => checkRequest("true", [], options);
const text = fc.string({ unit: "grapheme" }).filter((one) => !one.includes("\0"));
const longest = 131_071;

describe("command and arguments", () => {
  test("any well-formed text without NUL passes as it is, the empty argument too", () => {
    fc.assert(
      fc.property(
        text.filter((one) => one !== ""),
        fc.array(text),
        (command, args) => {
          const request = checkRequest(command, args, {});
          expect([request.command, request.args]).toEqual([command, args]);
        },
      ),
    );
  });

  test.each<[string, unknown, unknown, string]>([
    ["no command", undefined, [], "Command is not a non-empty string"],
    ["an empty command", "", [], "Command is not a non-empty string"],
    ["a command with NUL", "tr\0ue", [], "Command has a NUL byte in it"],
    ["half a surrogate pair", "\ud83d", [], "Command has half a surrogate pair"],
    ["arguments that are text", "true", "-x", "Arguments are not an array"],
    ["arguments like an array", "true", { 0: "a", length: 1 }, "Arguments are not an array"],
    ["a number among them", "true", ["a", "b", 3], "Argument 2 is of type number"],
    ["a hole among them", "true", new Array(1), "Argument 0 is of type undefined"],
    ["NUL in one of them", "true", ["a", "b\0c"], "Argument 1 has a NUL byte in it"],
    ["half a pair in one of them", "true", ["\udc00"], "Argument 0 has half a surrogate pair"],
  ])("%s is refused, naming it", (_, command, args, message) => {
    expect(refusal(command, args)).toContain(message);
  });

  test("the longest argument is counted in bytes", () => {
    expect(checkRequest("true", ["a".repeat(longest), `${"é".repeat(65_535)}a`], {}).args).toHaveLength(2);
    const code = "argument_list_too_long";
    expect(refusal("true", ["", "a".repeat(longest + 1)], {}, code)).toContain("Argument 1 has 131072 bytes");
    expect(refusal("true", ["é".repeat(65_536)], {}, code)).toContain(
      "Argument 0 has 131072 bytes: the most is 131071",
    );
    expect(refusal("a".repeat(200_000), [], {}, code)).toContain("Command has 200000 bytes");
  });
});

test("what the caller does with its own objects afterwards changes nothing", () => {
  const args = ["a"];
  const env: Record<string, string> = { N: "1" };
  const limits = { pids: 1 };
  const outputs = ["out"];
  const request = checkRequest("true", args, { env, limits, outputs });
  args[0] = "b\0";
  env["N"] = "2";
  limits.pids = -1;
  outputs[0] = "../../etc/passwd";
  expect(request.args).toEqual(["a"]);
  expect(request.options).toEqual({ env: { N: "1" }, limits: { pids: 1 }, outputs: ["out"] });
});

describe("options", () => {
  test.each<[string, unknown, string]>([
    ["no object", null, "Options are not an object"],
    ["a list", [], "Options are not an object"],
    ["one that nobody knows", { timeout: 5 }, 'Option "timeout" is not known'],
    ["a workingDir that is empty", { workingDir: "" }, "Option workingDir is not a non-empty string"],
    ["a workingDir with NUL", { workingDir: "/a\0" }, "Option workingDir has a NUL byte"],
    ["a tool that is no text", { tool: 1 }, "Option tool is not a non-empty string"],
    ["a backend that is no text", { backend: null }, "Option backend is not a non-empty string"],
    ["a network that nobody knows", { network: "open" }, 'Option network is "open": give "none", "cluster" or "all"'],
    ["a shell that is no boolean", { shell: "bash" }, "Option shell is not a boolean"],
    ["a signal that is none", { signal: {} }, "Option signal is not an AbortSignal"],
    ["an env that is a list", { env: [] }, "Option env is not an object"],
    ["an env that is null", { env: null }, "Option env is not an object"],
    ["limits that are a number", { limits: 5 }, "Option limits is not an object"],
    ["limits that are null", { limits: null }, "Option limits is not an object"],
    ["a limit that nobody knows", { limits: { memory: 5 } }, 'Limit "memory" is not known'],
    ["a limit of an object's machinery", { limits: { constructor: 5 } }, 'Limit "constructor" is not known'],
    ["a limit of nothing", { limits: { pids: 0 } }, "Option limits.pids is 0: give a finite number, more than 0"],
    ["a stdin that is a number", { stdin: 5 }, "Option stdin is neither a string, a Uint8Array nor a ReadableStream"],
    ["outputs that are text", { outputs: "a" }, "Option outputs is not an array of paths"],
    ["files that are text", { files: "ab" }, "Option files is not an object"],
    ["files that are a list", { files: ["ab"] }, "Option files is not an object"],
    ["files that are null", { files: null }, "Option files is not an object"],
    ["a file without content", { files: { a: {} } }, 'File "a" has no content'],
    ["a file that is null", { files: { a: null } }, 'File "a" has no content'],
    ["a file's content of numbers", { files: { a: { content: [1] } } }, 'File "a" has no content'],
    ["a file's key that nobody knows", { files: { a: { content: "", mode: 1 } } }, 'File "a" has a key "mode"'],
    ["an executable that is text", { files: { a: { content: "", executable: "no" } } }, 'File "a" is executable "no"'],
  ])("%s is refused, naming it", (_, options, message) => {
    expect(refusal("true", [], options)).toContain(message);
  });

  const numbers = ["timeoutMs", "maxOutputBytes", "limits.pids"] as const;
  const wrong = [Number.NaN, Number.POSITIVE_INFINITY, -1, -0.5, "5s", null, true, 2 ** 53, 10n];
  test.each(numbers.flatMap((name) => wrong.map((value) => [name, value] as const)))(
    "%s may not be %s",
    (name, value) => {
      const options = name === "limits.pids" ? { limits: { pids: value } } : { [name]: value };
      expect(refusal("true", [], options)).toContain(`Option ${name} is ${value === "5s" ? '"5s"' : value}`);
    },
  );

  test("0 is no time limit and an empty output; a time limit beyond what a timer takes is fine", () => {
    expect(accepted({ timeoutMs: 0, maxOutputBytes: 0 }).options).toEqual({ timeoutMs: 0, maxOutputBytes: 0 });
    expect(accepted({ timeoutMs: 2 ** 31 }).options.timeoutMs).toBe(2 ** 31);
    expect(accepted({ timeoutMs: Number.MAX_SAFE_INTEGER, limits: { cpus: 0.001 } }).stdin).toBe("none");
  });
});

describe("stdin", () => {
  test("text is UTF-8, bytes are themselves, a stream is read later", () => {
    expect(accepted({})).toMatchObject({ stdin: "none", stdinBytes: null });
    expect(accepted({ stdin: "" })).toMatchObject({ stdin: "inline", stdinBytes: new Uint8Array(0) });
    expect(accepted({ stdin: "é" }).stdinBytes).toEqual(Uint8Array.of(0xc3, 0xa9));
    const bytes = Uint8Array.of(0xff, 0);
    expect(accepted({ stdin: bytes }).stdinBytes).toEqual(bytes);
    expect(accepted({ stdin: new ReadableStream() })).toMatchObject({ stdin: "stream", stdinBytes: null });
  });

  test("a stream that somebody reads already is refused", () => {
    const stream = new ReadableStream<Uint8Array>();
    stream.getReader();
    expect(refusal("true", [], { stdin: stream })).toContain("Option stdin is a stream that is already being read");
  });
});

describe("files and outputs", () => {
  test("content is counted in bytes and kept by path, names of an object's machinery included", () => {
    const files = Object.fromEntries([
      ["a/b.txt", "é"],
      ["__proto__", Uint8Array.of(1, 2, 3)],
      ["run", { content: "#!/bin/sh\n", executable: true }],
      ["plain", { content: new Uint8Array(0) }],
    ] as const);
    const request = accepted({ files, outputs: ["out/1", "constructor"] });
    expect(request.files).toEqual([
      { path: "a/b.txt", bytes: 2, executable: false },
      { path: "__proto__", bytes: 3, executable: false },
      { path: "run", bytes: 10, executable: true },
      { path: "plain", bytes: 0, executable: false },
    ]);
    expect(request.fileBytes.get("__proto__")).toEqual(Uint8Array.of(1, 2, 3));
    expect([...request.fileBytes.keys()]).toEqual(Object.keys(files));
  });

  const paths: readonly (readonly [string, string])[] = [
    ["", "is not a non-empty string"],
    ["/etc/passwd", "is not relative"],
    ["C:/x", "is not relative"],
    ["C:x", "is not relative"],
    ["a\\..\\b", "is not relative"],
    ["..", 'has an empty, "." or ".." part'],
    ["../x", 'has an empty, "." or ".." part'],
    ["a/../../x", 'has an empty, "." or ".." part'],
    ["./a", 'has an empty, "." or ".." part'],
    ["a//b", 'has an empty, "." or ".." part'],
    ["a/", 'has an empty, "." or ".." part'],
    ["a\0b", "has a NUL byte"],
    ["\ud800", "has half a surrogate pair"],
  ];
  test.each(paths)("the path %j is refused, naming option and path", (path, message) => {
    for (const options of [{ files: { [path]: "x" } }, { outputs: ["fine", path] }]) {
      const said = refusal("true", [], options);
      expect(said).toContain(message);
      expect(said.toLowerCase()).toContain(`option ${Object.keys(options)[0]}`);
      if (path !== "") expect(said).toContain(JSON.stringify(path));
    }
  });

  test.each(["a", ".hidden", "...", "a b", "ä/ö", "-rf", "a..b", "~"])("the path %j passes", (path) => {
    expect(accepted({ files: { [path]: "" }, outputs: [path] }).files[0]?.path).toBe(path);
  });

  test("a path among the outputs that is no text is refused", () => {
    expect(refusal("true", [], { outputs: [undefined] })).toContain(
      "Option outputs has a path that is not a non-empty",
    );
  });
});

/** Python, its packages and its own ways to begin processes. */

import type { CorpusCase } from "./case.ts";

const ignores = ["__pycache__"];

/** Makes `tiny-1.0-py3-none-any.whl` with a module and a console script; dates fixed. */
const wheel = `import zipfile
n = "tiny-1.0.dist-info/"
files = {
    "tiny.py": "def main():\\n    print('tiny ran')\\n",
    n + "METADATA": "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n",
    n + "WHEEL": "Wheel-Version: 1.0\\nGenerator: corpus\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    n + "entry_points.txt": "[console_scripts]\\ntiny = tiny:main\\n",
}
files[n + "RECORD"] = "".join(f"{f},,\\n" for f in files) + n + "RECORD,,\\n"
with zipfile.ZipFile("tiny-1.0-py3-none-any.whl", "w") as z:
    for name, text in files.items():
        z.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), text)
`;

export const pythonCases: readonly CorpusCase[] = [
  {
    name: "python3 -c, -m, from a file and from stdin",
    needs: ["python3"],
    ignores,
    files: { "m.py": "import sys\nprint(__name__, sys.argv)\n", "use.py": "import m\n" },
    script: [
      "python3 -c 'print(sum(range(10)))'; python3 m.py a; python3 -m m b; echo 'print(\"piped\")' | python3; python3 use.py; python3 -c 'import sys; sys.exit(3)'; echo $?; echo '{\"a\":1}' | python3 -m json.tool",
    ],
  },
  {
    name: "which Python it is, and where its library is",
    needs: ["python3"],
    script: [
      "python3 -c 'import sys, os; print(sys.version, sys.prefix, sys.executable, os.getcwd(), sys.flags.utf8_mode, sys.getfilesystemencoding(), sys.stdout.encoding)'; python3 -m site --user-site",
    ],
  },
  {
    name: "modules with libraries beneath: ssl, sqlite3, zlib, lzma, ctypes",
    needs: ["python3"],
    script: [
      'python3 -c \'import ssl, sqlite3, zlib, bz2, lzma, ctypes, hashlib, decimal, uuid, zoneinfo; c = sqlite3.connect("d"); c.execute("create table t(a)"); print(ssl.OPENSSL_VERSION, zlib.crc32(b"x"), ctypes.CDLL(None).abs(-3), zoneinfo.ZoneInfo("Europe/Berlin"))\'; python3 -c \'import ssl; print(len(ssl.create_default_context().get_ca_certs()) > 0, ssl.get_default_verify_paths())\'',
    ],
    ignores: ["d"],
  },
  {
    name: "threads, processes, pools and subprocesses",
    needs: ["python3"],
    files: {
      "p.py":
        "import concurrent.futures as f, multiprocessing as m, subprocess, threading, queue, asyncio\ndef square(x): return x * x\ndef main():\n    with f.ProcessPoolExecutor(2) as p: print(list(p.map(square, range(5))))\n    with f.ThreadPoolExecutor(8) as p: print(sum(p.map(square, range(100))))\n    with m.get_context('spawn').Pool(2) as p: print(p.map(square, [3]))\n    q = m.Queue(); t = m.Process(target=q.put, args=(5,)); t.start(); print(q.get()); t.join()\n    r = subprocess.run(['sh', '-c', 'cat; exit 3'], input=b'in', capture_output=True); print(r.stdout, r.returncode)\n    async def a():\n        p = await asyncio.create_subprocess_exec('echo', 'async', stdout=-1); print(await p.communicate())\n    asyncio.run(a())\nif __name__ == '__main__': main()\n",
    },
    ignores,
    script: ["python3 p.py"],
  },
  {
    name: "a virtual environment, and a wheel made on the spot",
    needs: ["python3"],
    probe: { line: "python3 -c 'import ensurepip, venv'", otherwise: "this Python brings no ensurepip" },
    files: { "wheel.py": wheel },
    ignores: ["v", ".cache"],
    timeoutMs: 180_000,
    script: [
      "python3 wheel.py && python3 -m venv v && v/bin/pip install -q --no-index --no-cache-dir ./*.whl && v/bin/tiny && v/bin/python -c 'import tiny, sys; print(tiny.__file__, sys.prefix)' && . v/bin/activate && pip list --format=freeze | grep tiny && pip check",
    ],
  },
  {
    name: "pip installs into a directory, without a network",
    needs: ["python3"],
    probe: { line: "python3 -m pip --version", otherwise: "this Python has no pip" },
    files: { "wheel.py": wheel },
    ignores: [...ignores, "bin"],
    timeoutMs: 120_000,
    script: [
      "p=$(python3 -c 'import sys; print(sys.executable)'); python3 wheel.py && $p -m pip install -q --no-index --no-compile --no-cache-dir --disable-pip-version-check --root-user-action=ignore --target t ./*.whl && cd t && python3 -c 'import tiny; tiny.main()'; $p -m pip download -q --no-index nothing-here 2>/dev/null; echo $?",
    ],
  },
  {
    name: "unittest, doctest and a traceback",
    needs: ["python3"],
    ignores,
    files: {
      "test_a.py":
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(1 + 1, 2)\n    def test_b(self): self.assertEqual(1, 2)\n",
    },
    script: [
      "python3 -m unittest test_a 2>&1 | grep -E '^(FAILED|OK|AssertionError)'; echo ${PIPESTATUS[0]}; python3 -c 'raise ValueError(\"x\")' 2>&1 | tail -1",
    ],
  },
  {
    name: "files, temporary places, locks and the home directory by Python's own names",
    needs: ["python3"],
    script: [
      'python3 -c \'import tempfile, os, fcntl, pathlib, getpass, pwd; f = tempfile.NamedTemporaryFile(); fcntl.flock(f, fcntl.LOCK_EX); print(os.path.exists(f.name), tempfile.gettempdir(), pathlib.Path.home(), getpass.getuser(), pwd.getpwuid(os.getuid()).pw_name, os.cpu_count()); os.mkfifo("q"); os.symlink("q", "l"); print(os.path.realpath("l") == os.path.realpath("q"))\'',
    ],
  },
];

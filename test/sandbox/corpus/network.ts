/** Talking to itself by the network. Nothing here leaves the machine. */

import type { CorpusCase } from "./case.ts";

/** Starts a server of Python's as a coprocess; `$port` is the one that the system chose. */
const serve = [
  "coproc S { exec python3 -u -m http.server 0 --bind 127.0.0.1 --directory www 2>/dev/null; }",
  'pid=$S_PID; read -r line <&${S[0]}; [[ $line =~ port\\ ([0-9]+) ]] && port=${BASH_REMATCH[1]}; trap "kill $pid; wait $pid 2>/dev/null" EXIT',
];
const www = { "www/a.txt": "served\n", "www/b.bin": new Uint8Array(3000).fill(7) };

export const networkCases: readonly CorpusCase[] = [
  {
    name: "a web server on loopback, asked by curl",
    needs: ["python3", "curl"],
    files: www,
    script: [
      ...serve,
      "curl -sS http://127.0.0.1:$port/a.txt; curl -sS http://127.0.0.1:$port/b.bin | sha256sum; curl -s -o got -w '%{http_code}\\n' http://localhost:$port/none; curl -sf http://127.0.0.1:$port/none; echo $?; rm got",
    ],
  },
  {
    name: "the same, asked by wget, the shell and Python",
    needs: ["python3", "wget"],
    files: www,
    script: [
      ...serve,
      "wget -qO- http://127.0.0.1:$port/a.txt; exec 5<>/dev/tcp/127.0.0.1/$port; printf 'GET /a.txt HTTP/1.0\\r\\n\\r\\n' >&5; tail -n 1 <&5; python3 -c \"import urllib.request as u; print(u.urlopen('http://127.0.0.1:$port/a.txt').read())\"",
    ],
  },
  {
    name: "nobody listens",
    needs: ["curl"],
    script: [
      "curl -sS --max-time 5 http://127.0.0.1:9/ 2>/dev/null; echo $?; (exec 5<>/dev/tcp/127.0.0.1/9) 2>/dev/null; echo $?; curl -s file://$PWD/none; echo $?",
    ],
  },
  {
    name: "TCP, UDP and both families on loopback",
    needs: ["python3"],
    files: {
      "n.py":
        "import socket, threading\ndef echo(family, host):\n    s = socket.create_server((host, 0), family=family); t = threading.Thread(target=lambda: (lambda c: (c.sendall(c.recv(9)), c.close()))(s.accept()[0])); t.start()\n    c = socket.create_connection(s.getsockname()[:2]); c.sendall(b'ping'); print(c.recv(9)); t.join()\necho(socket.AF_INET, '127.0.0.1')\ntry: echo(socket.AF_INET6, '::1')\nexcept OSError as e: print(e.errno)\na = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); a.bind(('127.0.0.1', 0)); b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); b.sendto(b'dgram', a.getsockname()); print(a.recv(9))\nprint(socket.gethostbyname('localhost')); s = socket.create_server(('0.0.0.0', 0)); print(s.getsockname()[0]); socket.create_connection(('127.0.0.2', s.getsockname()[1])); print('any')\n",
    },
    script: ["python3 n.py"],
  },
  {
    name: "localhost by name",
    needs: ["getent", "python3"],
    script: [
      "getent hosts localhost | awk '{print $2}'; python3 -c 'import socket; print(socket.gethostbyname(\"localhost\"))'; getent hosts 127.0.0.1 | awk '{print $2}'; getent hosts no-such-host.invalid; echo $?",
    ],
    timeoutMs: 60_000,
  },
  {
    name: "TLS between its own two ends",
    needs: ["openssl", "python3"],
    files: {
      "t.py":
        "import ssl, socket, threading\nc = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); c.load_cert_chain('c.pem', 'k.pem')\ns = socket.create_server(('127.0.0.1', 0))\ndef serve():\n    w = c.wrap_socket(s.accept()[0], server_side=True); w.sendall(b'secret'); w.close()\nthreading.Thread(target=serve).start()\nk = ssl.create_default_context(cafile='c.pem'); k.check_hostname = False\nw = k.wrap_socket(socket.create_connection(s.getsockname())); print(w.recv(9), w.version())\n",
    },
    script: [
      "openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -subj /CN=corpus -days 1 2>/dev/null; python3 t.py; rm k.pem c.pem",
    ],
  },
  {
    name: "nc talks to itself",
    needs: ["nc"],
    script: [
      "mkfifo p; nc -lU sock < p > heard & until [ -S sock ]; do :; done; echo hello | nc -NU sock & : > p; wait; cat heard",
    ],
  },
  {
    name: "the loopback interface is up",
    needs: ["ip"],
    script: [
      "ip -o -4 addr show lo | grep -o 127.0.0.1/8; ip link show lo | grep -o LOOPBACK,UP; cat /proc/net/dev | grep -c lo:",
    ],
  },
  {
    name: "a server of Node's, asked by itself",
    needs: ["node"],
    script: [
      'node -e \'const s = require("http").createServer((q, r) => r.end(q.url)).listen(0, "127.0.0.1", async () => { const r = await fetch(`http://127.0.0.1:${s.address().port}/path`); console.log(r.status, await r.text()); s.close(); s.closeAllConnections(); })\'',
    ],
  },
];

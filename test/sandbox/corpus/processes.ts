/** Processes, and what they say to each other. */

import type { CorpusCase } from "./case.ts";

/** A child is a copy of the shell until it is its program: a signal that comes too early meets the shell's own handlers. */
const begun = 'begun() { until [ "$(cat /proc/$1/comm)" = sleep ]; do :; done; }';

export const processCases: readonly CorpusCase[] = [
  {
    name: "in the background, and waited for",
    script: ["(exit 3) & wait $!; echo $?; sleep 0.1 & sleep 0.1 & wait; echo both; { echo a > a; } & wait; cat a"],
  },
  {
    name: "wait -n and jobs",
    script: [
      "(sleep 0.1; exit 5) & sleep 60 & p=$!; wait -n; echo $?; jobs -r | wc -l; kill $p; wait $p 2>/dev/null; echo $?",
    ],
  },
  {
    name: "own children are killed, and their ends are told",
    script: [
      begun,
      "for s in TERM KILL INT USR1; do sleep 60 & begun $!; kill -0 $! && kill -$s $!; [ $s = INT ] && kill $!; wait $! 2>/dev/null; echo $s $?; done; kill -0 $! 2>/dev/null; echo $?; kill -l 9 15",
    ],
  },
  {
    name: "a trap for TERM in a child cleans up",
    script: [
      "bash -c 'trap \"echo cleaning; exit 9\" TERM; echo ready > ready; while :; do sleep 0.01; done' & until [ -s ready ]; do sleep 0.01; done; kill $!; wait $!; echo $?",
    ],
  },
  {
    name: "a trap for EXIT with children in the background",
    script: [begun, "trap 'kill $p; wait $p 2>/dev/null; echo cleaned' EXIT; sleep 60 & p=$!; begun $p; echo working"],
  },
  {
    name: "a group of its own is killed as one",
    script: [
      'set -m; (sleep 60 & sleep 60 & wait) & p=$!; set +m; until [ "$(pgrep -g $p | wc -l)" = 3 ]; do sleep 0.01; done; kill -- -$p; wait $p 2>/dev/null; echo $?',
    ],
    needs: ["pgrep"],
  },
  {
    name: "timeout, in time and too late",
    script: [
      "timeout 10 echo quick; timeout 0.1 sleep 60; echo $?; timeout -s KILL 0.1 sleep 60; echo $?; timeout -k 0.1 0.1 bash -c 'trap \"\" TERM; while :; do :; done'; echo $?",
    ],
  },
  {
    name: "nohup, setsid and disown, waited for",
    script: [
      "nohup sh -c 'echo hung' > out 2>/dev/null; cat out; setsid -w sh -c 'ps -o sid= -p $$ | grep -cw $$'; echo $?; sleep 0.05 & disown; echo disowned",
    ],
    needs: ["setsid", "ps"],
  },
  {
    name: "an orphan ends, and somebody reaps it",
    script: [
      "mkfifo p; bash -c '(exec 3> p; sleep 0.1) & exit 0'; cat p; echo ended; true & wait; pgrep -c -P $$ sleep",
    ],
    needs: ["pgrep"],
    exits: 1,
  },
  {
    name: "two hundred short children",
    script: [
      "for i in {1..200}; do true & done; wait; echo $?; ps=(); for i in {1..50}; do (exit $i) & ps+=($!); done; n=0; for p in ${ps[*]}; do wait $p; n=$((n + $?)); done; echo $n",
    ],
  },
  {
    name: "fifty processes at once",
    script: [
      'for i in {1..50}; do sleep 60 & done; [ "$(jobs -p | wc -l)" = 50 ] && echo fifty; kill $(jobs -p); wait; echo $?',
    ],
  },
  {
    name: "stopped and continued",
    script: [
      begun,
      "sleep 60 & p=$!; begun $p; kill -STOP $p; until grep -q 'State:.T' /proc/$p/status; do :; done; echo stopped; kill -CONT $p; kill $p; wait $p 2>/dev/null; echo $?",
    ],
  },
  {
    name: "pgrep and pkill among own children",
    needs: ["pgrep", "pkill"],
    script: [
      'sleep 61 & sleep 61 & until [ "$(pgrep -c -P $$ -x sleep)" = 2 ]; do :; done; echo two; pkill -P $$ -x sleep; wait; pgrep -P $$ -x sleep; echo $?',
    ],
  },
  {
    name: "another name in argv, and stdbuf by way of a library",
    script: [
      "bash -c 'exec -a renamed sh -c \"cat /proc/\\$\\$/cmdline\"' | tr '\\0' ' '; echo; stdbuf -oL seq 3 | head -1; (exec -c env | wc -l)",
    ],
  },
  {
    name: "pipes with many readers and a writer that ends",
    script: [
      "seq 1000 | (head -n 1; cat > /dev/null); (for i in 1 2 3; do read -r l; echo $l; done; cat | wc -l) < <(seq 10); { sleep 0.1; echo late; } | cat",
    ],
  },
  {
    name: "time and times measure",
    script: [
      "TIMEFORMAT=%R; { time sleep 0.1; } 2>&1 | awk '{ print ($1 >= 0.1 && $1 < 10) }'; SECONDS=0; sleep 1.05; [ $SECONDS -ge 1 ] && echo slept; [ -n \"$EPOCHSECONDS\" ] && date +%s%N | wc -c",
    ],
  },
  {
    name: "a unix socket in the working directory",
    needs: ["python3"],
    files: {
      "s.py":
        "import socket, os, threading\ns = socket.socket(socket.AF_UNIX); s.bind('sock'); s.listen()\ndef serve():\n    c, _ = s.accept(); c.sendall(c.recv(100).upper()); c.close()\nt = threading.Thread(target=serve); t.start()\nc = socket.socket(socket.AF_UNIX); c.connect('sock'); c.sendall(b'hello'); print(c.recv(100)); t.join()\na, b = socket.socketpair(); a.send(b'pair'); print(b.recv(9))\n",
    },
    script: ["python3 s.py; [ -S sock ] && echo socket"],
  },
  {
    name: "an abstract unix socket of its own, with credentials and a descriptor handed over",
    needs: ["python3"],
    files: {
      "s.py":
        "import socket, os, struct, array\ns = socket.socket(socket.AF_UNIX); s.bind('\\0corpus-' + str(os.getpid())); s.listen()\nif os.fork() == 0:\n    c = socket.socket(socket.AF_UNIX); c.connect(s.getsockname()); f = os.open('f', os.O_CREAT | os.O_RDWR)\n    os.write(f, b'handed'); socket.send_fds(c, [b'x'], [f]); os._exit(0)\nc, _ = s.accept(); pid, uid, gid = struct.unpack('3i', c.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))\n_, fds, _, _ = socket.recv_fds(c, 1, 1); print(uid == os.getuid(), os.pread(fds[0], 9, 0)); os.wait()\n",
    },
    script: ["python3 s.py"],
  },
  {
    name: "shared memory, semaphores and queues of its own",
    needs: ["python3"],
    files: {
      "m.py":
        "import mmap, os, ctypes\nfrom multiprocessing import shared_memory, Semaphore, get_context\nm = shared_memory.SharedMemory(create=True, size=100); m.buf[0] = 7\nn = shared_memory.SharedMemory(name=m.name); print(n.buf[0]); n.close(); m.close(); m.unlink()\ns = Semaphore(0); a = mmap.mmap(-1, 4096)\nif os.fork() == 0: a[0] = 9; s.release(); os._exit(0)\ns.acquire(); print(a[0]); os.wait()\nlibc = ctypes.CDLL(None, use_errno=True); q = libc.msgget(0, 0o1600); print(q >= 0); libc.msgctl(q, 0, None)\nh = libc.shmget(0, 4096, 0o1600); print(h >= 0); libc.shmctl(h, 0, None); f = os.memfd_create('x'); os.write(f, b'y'); print(os.pread(f, 1, 0))\n",
    },
    script: ["python3 m.py"],
  },
  {
    name: "signals, alarms, timers, epoll, inotify, eventfd",
    needs: ["python3"],
    files: {
      "e.py":
        "import signal, select, os, time, ctypes, struct\nsignal.signal(signal.SIGALRM, lambda *_: print('alarm')); signal.setitimer(signal.ITIMER_REAL, 0.05); signal.pause()\nr, w = os.pipe(); e = select.epoll(); e.register(r); os.write(w, b'x'); print(len(e.poll(1)))\nlibc = ctypes.CDLL(None, use_errno=True); i = libc.inotify_init(); libc.inotify_add_watch(i, b'.', 0x100); open('made', 'w').close()\nd = os.read(i, 4096); print(d[16:].rstrip(b'\\0')); f = libc.eventfd(3, 0); print(struct.unpack('Q', os.read(f, 8))[0])\nprint(os.sched_getaffinity(0) == os.sched_getaffinity(os.getpid())); p = os.fork()\nif p == 0: os._exit(4)\nfd = os.pidfd_open(p); select.select([fd], [], [], 5); print(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))\n",
    },
    script: ["python3 e.py"],
  },
  {
    name: "a library put before a child by the script itself",
    needs: ["gcc", "perl"],
    files: { "p.c": "int getppid(void) { return 4242; }\n" },
    script: [
      "gcc -shared -fPIC -o p.so p.c && LD_PRELOAD=$PWD/p.so perl -e 'print getppid(), \"\\n\"'; perl -e 'print getppid() == 4242 ? 1 : 0'; rm p.so",
    ],
  },
];

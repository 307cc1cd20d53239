"""Tries to outlive its sandbox: gives bubblewrap's first process inside (x86-64) other code, and leaves a child behind.

Arguments: `ended` has the monitor end, `threaded` too, and lets the first process's main thread end before another one of it;
`waiting` leaves the monitor for the host's end to end.
"""

import os, struct, sys, time

how = sys.argv[1]
PAUSE = b"\xb8\x22\x00\x00\x00\x0f\x05\xeb\xf7"

# prctl(PR_SET_PDEATHSIG, 0)
code = b"\xb8\x9d\x00\x00\x00\xbf\x01\x00\x00\x00\x31\xf6\x0f\x05"
for fd in () if how == "waiting" else range(3, 12):
    # write(fd, one, 8): one of them is the event that the monitor waits for.
    code += b"\xb8\x01\x00\x00\x00\xbf" + struct.pack("<I", fd) + b"\x48\x8d\x35ONE_\xba\x08\x00\x00\x00\x0f\x05"
if how == "threaded":
    # clone(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0)
    code += b"\xb8\x38\x00\x00\x00\xbf\x00\x0f\x01\x00\x31\xf6\x31\xd2\x4d\x31\xd2\x4d\x31\xc0\x0f\x05"
    # The new one goes on behind exit(0).
    code += b"\x85\xc0\x74\x09\xb8\x3c\x00\x00\x00\x31\xff\x0f\x05"
code += PAUSE
while b"ONE_" in code:
    at = code.index(b"ONE_")
    code = code[:at] + struct.pack("<i", len(code) - (at + 4)) + code[at + 4 :]
code += struct.pack("<Q", 1)

counter = int(open("/proc/1/syscall").read().split()[-1], 16)
memory = os.open("/proc/1/mem", os.O_RDWR)
os.lseek(memory, counter, os.SEEK_SET)
os.write(memory, code)
if os.fork() == 0:
    os.setsid()
    for fd in (0, 1, 2):
        os.close(fd)
    os.execvp("sleep", ["sleep", "300"])
if how == "waiting":
    # The first process goes on in the new code when it is woken: by a child of its own that has ended.
    if os.fork() == 0:
        if os.fork() == 0:
            time.sleep(0.1)
            os._exit(0)
        os._exit(0)
    time.sleep(0.5)
    print("ready", flush=True)
    time.sleep(300)

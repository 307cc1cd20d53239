"""The host's side of an attack: listens, holds a secret, and tells what reached it.

Says one line when it is ready. For each line on stdin it tells what has come until then, then "drained".
"""

import ctypes
import os
import pty
import select
import socket
import sys
import tty

role, args = sys.argv[1], sys.argv[2:]
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
librt = ctypes.CDLL("librt.so.1", use_errno=True)


def serve(listener, told):
    print(told, flush=True)
    listener.setblocking(False)

    def drain():
        # What arrived before is before this in the queue of the kernel, so nothing has to be waited for.
        while True:
            try:
                if listener.type == socket.SOCK_DGRAM:
                    yield listener.recv(1000).decode()
                else:
                    connection, _ = listener.accept()
                    connection.close()
                    yield "connected"
            except BlockingIOError:
                return

    return drain


def tcp():
    s = socket.create_server(("127.0.0.1", 0))
    return serve(s, s.getsockname()[1])


def udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    return serve(s, s.getsockname()[1])


def unix():
    s = socket.socket(socket.AF_UNIX)
    s.bind(args[0].replace("@", "\0", 1))
    s.listen()
    return serve(s, args[0])


def shm():
    key = int(args[0])
    segment = libc.shmget(key, 4096, 0o1600)
    ctypes.memmove(libc.shmat(segment, None, 0), args[1].encode(), len(args[1]))
    libc.shmctl(segment, 0, None)
    print(segment, flush=True)
    return lambda: iter(())


def msg():
    queue = libc.msgget(int(args[0]), 0o1600)
    print(queue, flush=True)

    def drain():
        buffer = ctypes.create_string_buffer(200)
        while libc.msgrcv(queue, buffer, 100, 0, 0o4000) >= 0:
            yield buffer.raw[8:].rstrip(b"\0").decode()
        libc.msgctl(queue, 0, None)

    return drain


def mq():
    # O_RDWR | O_CREAT | O_NONBLOCK, with the system's own sizes.
    queue = librt.mq_open(args[0].encode(), 0o4102, 0o600, None)
    print(queue, flush=True)

    def drain():
        buffer = ctypes.create_string_buffer(10000)
        while librt.mq_receive(queue, buffer, 10000, None) >= 0:
            yield buffer.value.decode()
        librt.mq_unlink(args[0].encode())

    return drain


def key():
    made = libc.syscall(248, b"user", args[0].encode(), args[1].encode(), ctypes.c_long(len(args[1])), ctypes.c_long(-4))
    print(made, flush=True)

    def drain():
        for name in args[0], args[0] + "-planted":
            found = libc.syscall(250, 10, ctypes.c_long(-4), b"user", name.encode(), 0)
            if found >= 0:
                yield name
                libc.syscall(250, 9, ctypes.c_long(found), ctypes.c_long(-4), 0, 0)

    return drain


def terminal():
    _master, slave = pty.openpty()
    tty.setraw(slave)
    os.set_blocking(slave, False)
    print(os.ttyname(slave), flush=True)

    def drain():
        if select.select([slave], [], [], 0)[0]:
            yield os.read(slave, 1000).decode()

    return drain


drain = globals()[role]()
for _ in sys.stdin:
    for line in drain():
        print(line, flush=True)
    print("drained", flush=True)

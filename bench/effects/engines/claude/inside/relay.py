"""Runs inside the sandbox, beside the client: carries its model calls from a loopback port to the session's Unix socket.

Rule: the client is given a key that is worth nothing; this program alone knows the one that the socket takes, and puts it
into every call. A call whose connection does not belong to the client's own process is marked and gets no key: the door
refuses and counts it. It is undumpable, so that no other process of the same user can read that key from it. The client
writes into a socket: a pipe could be opened anew below /proc by its tools, which would then speak in its name. It judges
nothing else and never changes a body.

Standard input: one line of JSON {key, socket, port, argv, linger_s}, then what the client is to read. Exits as the client
does (128+n for a signal). A client that has written its result and then stays is ended after `linger_s` seconds: status 0.
"""

from __future__ import annotations

import _ctypes
import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from typing import Any

HEAD = 1 << 18
CHUNK = 1 << 16
RESULT = b'"type":"result"'
DROPPED = (b"x-api-key:", b"authorization:", b"connection:", b"x-assay-foreign:")
HERE = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def harden() -> None:
    """Before the key is read: closed to every other process."""
    prctl = _ctypes.dlsym(_ctypes.dlopen("libc.so.6", 0), "prctl")
    if _ctypes.call_function(prctl, (4, 0, 0, 0, 0)) != 0:
        sys.exit(125)


def read_order() -> dict[str, Any]:
    """The first line of standard input and not a byte more."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            sys.exit(125)
        line += byte
    order: dict[str, Any] = json.loads(line)
    return order


def inode_of(port: int, peer: int) -> str | None:
    """Of the client's end of a loopback connection, from the kernel's table."""
    wanted = [f"0100007F:{peer:04X}", f"0100007F:{port:04X}"]
    with open("/proc/net/tcp") as table:
        for row in table:
            words = row.split()
            if words[1:3] == wanted:
                return words[9]
    return None


def belongs(pid: int, port: int, peer: int) -> bool:
    """Whether the client's own process holds the connection. Where nobody can tell, it does not."""
    with contextlib.suppress(OSError):
        inode = inode_of(port, peer)
        for name in os.listdir(f"/proc/{pid}/fd") if inode and inode != "0" else ():
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{name}") == f"socket:[{inode}]":
                    return True
    return False


def rewritten(head: bytes, key: str, foreign: bool) -> bytes:
    """The head of a request, one per connection, with our key unless somebody else than the client asks."""
    first, *rest = head.split(b"\r\n")
    kept = [line for line in rest if not line.lower().startswith(DROPPED)]
    mark = b"x-assay-foreign: 1" if foreign else b"x-api-key: " + key.encode()
    return b"\r\n".join([first, mark, b"Connection: close", *kept, b"", b""])


def pour(source: socket.socket, sink: socket.socket) -> None:
    """Everything from one socket to the other, then the end."""
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def head_of(connection: socket.socket) -> tuple[bytes, bytes] | None:
    """(head, what came of the body), or None for what is no request."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(CHUNK)
        if not more or len(data) > HEAD:
            return None
        data += more
    head, _end, rest = data.partition(b"\r\n\r\n")
    return head, rest


def serve(connection: socket.socket, peer: int, order: dict[str, Any], child: subprocess.Popen[bytes]) -> None:
    """One call."""
    with connection, socket.socket(socket.AF_UNIX) as upstream:
        try:
            request = head_of(connection)
            if request is None:
                return
            if request[0].startswith(b"HEAD "):
                connection.sendall(HERE)  # the client's question whether anybody is there costs no call
                return
            foreign = not belongs(child.pid, order["port"], peer)
            upstream.connect(order["socket"])
            upstream.sendall(rewritten(request[0], order["key"], foreign) + request[1])
        except OSError:
            return
        back = threading.Thread(target=pour, args=(upstream, connection), daemon=True)
        back.start()
        pour(connection, upstream)
        back.join()


def accept(listener: socket.socket, order: dict[str, Any], child: subprocess.Popen[bytes]) -> None:
    """One thread per call, for as long as there are calls."""
    while True:
        connection, (_host, peer) = listener.accept()
        threading.Thread(target=serve, args=(connection, peer, order, child), daemon=True).start()


class Watch:
    """Looks for the result event in what the client says, to know since when it lingers."""

    def __init__(self) -> None:
        self.line = bytearray()
        self.since: float | None = None

    def saw(self, data: bytes) -> None:
        """A piece of the client's output."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            line, self.line = bytes(self.line) + end, bytearray()
            if self.since is None and RESULT in line and is_result(line):
                self.since = time.monotonic()
        self.line += rest


def is_result(line: bytes) -> bool:
    """Whether a line of the stream is its result event."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(event, dict) and event.get("type") == "result"


def copied(child: subprocess.Popen[bytes], output: socket.socket, linger: float) -> bool:
    """Copy the client's output out until it ends; true when it had to be ended."""
    watch, sources = Watch(), [output.fileno()]
    while True:
        gone = child.poll() is not None
        ready = select.select(sources, [], [], 0.05)[0]
        if ready:
            data = os.read(sources[0], CHUNK)
            sources = sources if data else []
            watch.saw(data)
            view = memoryview(data)
            while view:
                view = view[os.write(1, view) :]
        elif gone:  # what it started may still hold the other end
            return False
        if not gone and watch.since is not None and time.monotonic() - watch.since > linger:
            child.kill()
            return True


def main() -> None:
    """Key, port, client, calls, status."""
    harden()
    order = read_order()
    listener = socket.create_server(("127.0.0.1", order["port"]), backlog=64)
    output, clients = socket.socketpair()
    child = subprocess.Popen(order["argv"], stdout=clients.fileno())
    clients.close()
    threading.Thread(target=accept, args=(listener, order, child), daemon=True).start()
    ended = copied(child, output, order["linger_s"])
    status = child.wait()
    os._exit(0 if ended else status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()

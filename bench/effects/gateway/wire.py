"""HTTP/1.1 on one accepted socket: requests in, whole answers or streams out. Knows no route and no key.

A body is read when it is asked for, and never kept otherwise. Bodies are bounded, one by one and together, so are headers;
what is not HTTP/1.1 gets a 400 and the end of its connection.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import h11

MAX_BODY = 64 << 20
MAX_HEADERS = 64 << 10
STALL_S = 120.0
"""How long a client may pause within a body."""
_CHUNK = 64 << 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A request. Header names in lower case; of a repeated header the first."""

    method: str
    target: str
    headers: Mapping[str, str]
    read: Callable[[], bytes]
    """The body, to be read once. Raises Oversized, Crowded, h11.RemoteProtocolError, OSError."""

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole response."""

    status: int
    body: bytes
    kind: str = "application/json"


def refusal(status: int, kind: str, message: str) -> Answer:
    """An error in the Messages API's shape, which clients of the other two read too."""
    return Answer(status, json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode())


class Oversized(Exception):
    """A request's body is above MAX_BODY."""


class Crowded(Exception):
    """The bodies of the requests that run now leave no room for this one; it was read past, and can be answered."""


class Bound:
    """How many bytes of bodies may be held at a time, over several connections."""

    def __init__(self, limit: int = MAX_BODY) -> None:
        self._left = limit
        self._guard = threading.Lock()

    def take(self, count: int) -> bool:
        """False, and nothing taken, where fewer are left."""
        with self._guard:
            fits = count <= self._left
            self._left -= count if fits else 0
            return fits

    def give(self, count: int) -> None:
        """Back again."""
        with self._guard:
            self._left += count


class Exchange:
    """The server's side of one connection."""

    def __init__(self, connection: socket.socket, bound: Bound | None = None, stall_s: float = STALL_S) -> None:
        self.socket = connection
        self._stall_s = stall_s
        self._state = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEADERS)
        self._bound = bound or Bound()
        self._held = 0

    def requests(self) -> Iterator[Asked]:
        """One request after another until the client ends it. Each must be answered before the next is taken; what of its
        body was not read by then is read past.

        Raises Oversized, h11.RemoteProtocolError, OSError.
        """
        while True:
            event = self._next()
            if not isinstance(event, h11.Request):
                return
            yield self._asked(event)
            self.release()
            if self._state.their_state is h11.SEND_BODY:
                self._body(keep=False)
            if self._state.our_state is h11.MUST_CLOSE or self._state.their_state is h11.MUST_CLOSE:
                return
            if self._state.our_state is not h11.DONE:
                return
            self._state.start_next_cycle()

    def release(self) -> None:
        """Give back the room that the last request's body took. Safe to call twice."""
        held, self._held = self._held, 0
        self._bound.give(held)

    def _next(self) -> Any:
        while True:
            event = self._state.next_event()
            if event is not h11.NEED_DATA:
                return event
            if self._state.they_are_waiting_for_100_continue:
                self._send(h11.InformationalResponse(status_code=100, headers=[]))
            self._state.receive_data(self.socket.recv(_CHUNK))

    def _asked(self, head: h11.Request) -> Asked:
        headers: dict[str, str] = {}
        for name, value in head.headers:
            headers.setdefault(name.decode("latin-1"), value.decode("latin-1"))
        return Asked(head.method.decode("ascii"), head.target.decode("latin-1"), headers, lambda: self._body(keep=True))

    def _body(self, *, keep: bool) -> bytes:
        body, size, crowded = bytearray(), 0, False
        patience = self.socket.gettimeout()
        self.socket.settimeout(self._stall_s)
        while True:
            event = self._next()
            if isinstance(event, h11.EndOfMessage):
                self.socket.settimeout(patience)
                if crowded:
                    raise Crowded
                return bytes(body)
            if not isinstance(event, h11.Data):
                raise h11.RemoteProtocolError("the request ended within its body")
            size += len(event.data)
            if size > MAX_BODY:
                raise Oversized
            if keep and not crowded and self._bound.take(len(event.data)):
                self._held += len(event.data)
                body += event.data
            elif keep:
                crowded = True
                body.clear()
                self.release()

    def answer(self, made: Answer, *, last: bool = False) -> None:
        """A whole response; `last` ends the connection after it."""
        headers = [("content-type", made.kind), ("content-length", str(len(made.body)))]
        if last:
            headers.append(("connection", "close"))
        self._send(h11.Response(status_code=made.status, headers=headers))
        if made.body:
            self._send(h11.Data(data=made.body))
        self._send(h11.EndOfMessage())

    def begin(self, status: int, kind: str) -> None:
        """The head of a stream."""
        headers = [("content-type", kind), ("cache-control", "no-cache"), ("transfer-encoding", "chunked")]
        self._send(h11.Response(status_code=status, headers=headers))

    def chunk(self, data: bytes) -> None:
        """A part of a stream, sent at once."""
        if data:
            self._send(h11.Data(data=data))

    def end(self) -> None:
        """The end of a stream. A stream that is cut has none."""
        self._send(h11.EndOfMessage())

    def _send(self, event: Any) -> None:
        data = self._state.send(event)
        if data:
            self.socket.sendall(data)

"""HTTP/1.1 on one accepted socket: whole requests in, whole answers or streams out. Knows no route and no key.

Bodies are bounded, so are headers; what is not HTTP/1.1 gets a 400 and the end of its connection.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import h11

MAX_BODY = 64 << 20
MAX_HEADERS = 64 << 10
_CHUNK = 64 << 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A request. Header names in lower case; of a repeated header the first."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

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


class Exchange:
    """The server's side of one connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._state = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEADERS)

    def requests(self) -> Iterator[Asked]:
        """One request after another until the client ends it. Each must be answered before the next is taken.

        Raises Oversized, h11.RemoteProtocolError, OSError.
        """
        while True:
            event = self._next()
            if not isinstance(event, h11.Request):
                return
            yield self._whole(event)
            if self._state.our_state is h11.MUST_CLOSE or self._state.their_state is h11.MUST_CLOSE:
                return
            if self._state.our_state is not h11.DONE:
                return
            self._state.start_next_cycle()

    def _next(self) -> Any:
        while True:
            event = self._state.next_event()
            if event is not h11.NEED_DATA:
                return event
            if self._state.they_are_waiting_for_100_continue:
                self._send(h11.InformationalResponse(status_code=100, headers=[]))
            self._state.receive_data(self.socket.recv(_CHUNK))

    def _whole(self, head: h11.Request) -> Asked:
        headers: dict[str, str] = {}
        for name, value in head.headers:
            headers.setdefault(name.decode("latin-1"), value.decode("latin-1"))
        body = bytearray()
        while True:
            event = self._next()
            if isinstance(event, h11.Data):
                body += event.data
                if len(body) > MAX_BODY:
                    raise Oversized
            elif isinstance(event, h11.EndOfMessage):
                return Asked(head.method.decode("ascii"), head.target.decode("latin-1"), headers, bytes(body))
            else:
                raise h11.RemoteProtocolError("the request ended within its body")

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

"""Carries one admitted call to the proxy and its answer back, event by event, and can be cut at any moment.

Errors are reworded before they go in: the proxy quotes tracebacks with paths of this machine.
"""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from bench.effects.gateway.gate import Call
from bench.effects.gateway.wire import Answer, Exchange, refusal
from bench.effects.redact import Redactor

MOST_ERROR = 600
_READ = 64 << 10
_TIMEOUT_S = 1900.0
_KINDS = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error"}
_KINDS |= {413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}

_LAST = ("message_stop", "response.completed")
"""Events after which a client waits for nothing more."""


class Cut(Exception):
    """The stream ended before its end."""


class Watch(Protocol):
    """Who follows one call."""

    def hold(self, connection: socket.socket) -> None:
        """Told of the connection to the proxy, so that it can be cut. Raises Cut."""
        ...

    def unheard(self) -> None:
        """Told, before the answer, that it is our own: the proxy was not there."""
        ...

    def answered(self, status: int, events: list[dict[str, Any]]) -> None:
        """Told once, before the end of a whole answer goes out, so that a client that has read it can end at once. `events`
        of a good answer (or its one whole message) in the client's protocol."""
        ...


class Forwarder:
    """To one proxy with one minted key."""

    def __init__(self, port: int, key: str, redactor: Redactor) -> None:
        self._port, self._key, self._redactor = port, key, redactor

    def carry(self, call: Call, number: str, exchange: Exchange, watch: Watch) -> None:
        """The call to the proxy and its answer to the client. Raises Cut, OSError."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_TIMEOUT_S)
        try:
            try:
                connection.connect()
            except ConnectionError:
                watch.unheard()
                self._tell(refusal(502, "api_error", "the model gateway does not answer"), exchange, watch)
                return
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            watch.hold(connection.sock)
            connection.request("POST", call.path, call.data, self._headers(call, number))
            response = connection.getresponse()
            kind = response.headers.get("content-type") or "application/json"
            if response.status >= 400:
                self._tell(self.error(response.status, response.read(1 << 20)), exchange, watch)
            elif kind.startswith("text/event-stream"):
                self._stream(response, kind, exchange, watch)
            else:
                self._tell(Answer(response.status, response.read(), kind), exchange, watch)
        except http.client.HTTPException as fault:
            raise Cut(type(fault).__name__) from None
        finally:
            connection.close()

    def _headers(self, call: Call, number: str) -> dict[str, str]:
        ours = {"authorization": f"Bearer {self._key}", "content-type": "application/json", "x-assay-call": number}
        return {**call.headers, **ours}

    def _tell(self, made: Answer, exchange: Exchange, watch: Watch) -> None:
        parsed = _json(made.body) if made.status < 400 else None
        watch.answered(made.status, [parsed] if isinstance(parsed, dict) else [])
        exchange.answer(made)

    def _stream(self, response: http.client.HTTPResponse, kind: str, exchange: Exchange, watch: Watch) -> None:
        seen: list[dict[str, Any]] = []
        told = False
        exchange.begin(response.status, kind)
        for frame in frames(response.read1):
            event = event_of(frame)
            if event is not None and event.get("type") == "error":
                event = self._reworded(event)
                frame = b"event: error\ndata: " + json.dumps(event).encode() + b"\n\n"
            if event is not None:
                seen.append(event)
                if event.get("type") in _LAST and not told:
                    told = True
                    watch.answered(response.status, seen)
            exchange.chunk(frame)
        if not told:
            watch.answered(response.status, seen)
        exchange.end()

    def _reworded(self, event: Mapping[str, Any]) -> dict[str, Any]:
        error = event.get("error")
        error = error if isinstance(error, dict) else {}
        said = self._text(str(error.get("message") or ""))
        return {"type": "error", "error": {"type": str(error.get("type") or "api_error"), "message": said}}

    def error(self, status: int, data: bytes) -> Answer:
        """A failure as the client is told of it. A provider's 401 becomes a 403, which clients do not try again."""
        found = _json(data)
        error = found.get("error") if isinstance(found, dict) else None
        error = error if isinstance(error, dict) else {}
        message = str(error.get("message") or "no reason was given").split("\nTraceback")[0]
        quoted = _quoted(message)
        told = next((kind for kind in (quoted.get("type"), error.get("type")) if kind in _KINDS.values()), None)
        if told == "overloaded_error":
            status = 529  # LiteLLM makes a 500 of it, which clients do not wait for
        status = 403 if status == 401 else status
        kind = str(told or _KINDS.get(status, "api_error"))
        return refusal(status, kind, self._text(message))

    def _text(self, message: str) -> str:
        message = message.split("\nTraceback")[0].split("\n\nLiteLLM: ")[0]
        said = _quoted(message).get("message")
        return self._redactor.text(said if isinstance(said, str) and said else message)[:MOST_ERROR]


def _quoted(message: str) -> Mapping[str, Any]:
    """The provider's own error, where LiteLLM quotes its body: clients know some of these sentences."""
    _before, brace, rest = message.partition("{")
    try:
        found, _end = json.JSONDecoder().raw_decode(brace + rest)
    except (ValueError, RecursionError):
        return {}
    error = found.get("error") if isinstance(found, dict) else None
    return error if isinstance(error, dict) else {}


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def frames(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """Server-sent events, whole, with the blank line that ends each. What is left at the end is one too."""
    held = b""
    while data := read(_READ):
        held = (held + data).replace(b"\r\n", b"\n")
        *whole, held = held.split(b"\n\n")
        for frame in whole:
            yield frame + b"\n\n"
    if held:
        yield held


def event_of(frame: bytes) -> dict[str, Any] | None:
    """The JSON object of an event's data lines; None for comments, `[DONE]` and anything else."""
    data = b"\n".join(line[5:].removeprefix(b" ") for line in frame.split(b"\n") if line.startswith(b"data:"))
    found = _json(data)
    return found if isinstance(found, dict) else None

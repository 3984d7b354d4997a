"""What stands for a sandboxed client: HTTP over a door's Unix socket."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Mapping
from typing import Any

from bench.effects.gateway import SOCKET, Door

TOOLS = [{"name": "bash", "description": "a shell", "input_schema": {"type": "object"}}]


class Connection(http.client.HTTPConnection):
    """To a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("door", timeout=60)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self._path)


def message(door: Door, said: str = "do it", **more: Any) -> dict[str, Any]:
    """A body of the Messages API."""
    messages = more.pop("messages", None) or [{"role": "user", "content": said}]
    return {"model": door.model, "max_tokens": 100, "messages": messages, "tools": TOOLS} | more


def call(
    door: Door,
    body: Any,
    path: str = "/v1/messages?beta=true",
    *,
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
) -> tuple[int, bytes]:
    """Status and whole body of one request."""
    connection = Connection(str(door.folder / SOCKET))
    try:
        given = {"x-api-key": door.placeholder, "content-type": "application/json"} | dict(headers or {})
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, given)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def events(data: bytes) -> list[dict[str, Any]]:
    """The events of a stream."""
    return [json.loads(line[6:]) for line in data.decode().splitlines() if line.startswith("data: {")]


class Purse:
    """So many dollars, for one session or several: `**purse.terms` is what an `Ask` is told of it."""

    def __init__(self, dollars: float) -> None:
        self.dollars = dollars
        self.spent: list[float] = []

    @property
    def terms(self) -> dict[str, Any]:
        return {"spent": self.spent.append, "left": lambda: self.dollars - sum(self.spent)}

"""A session that was to have the graph's tools and began without them is no evidence about its arm."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench.effects.engines.claude import command, evidence
from bench.effects.engines.claude.stream import parse


def began(*servers: Any) -> bytes:
    return json.dumps({"type": "system", "subtype": "init", "mcp_servers": list(servers)}).encode() + b"\n"


@pytest.mark.parametrize(
    ("said", "state"),
    [
        (began({"name": "graph", "status": "connected"}), None),
        (began({"name": "graph", "status": "pending"}), "pending"),
        (began({"name": "graph", "status": "failed"}, {"name": "other", "status": "connected"}), "failed"),
        (began({"name": "other", "status": "connected"}), "absent"),
        (began(), "absent"),
        (began("graph", {"name": "graph"}), "None"),
        (b'{"type": "system", "subtype": "init"}\n', None),
        (b'{"type": "assistant"}\n', None),
        (b"", None),
    ],
)
def test_what_the_client_said_of_its_server(said: bytes, state: str | None) -> None:
    assert evidence.unserved(parse(said), command.SERVER) == state


def test_the_client_waits_for_the_server_as_long_as_it_may_take_to_start() -> None:
    environment = command.environment("m")
    assert environment["MCP_CONNECT_TIMEOUT_MS"] == environment["MCP_TIMEOUT"]
    assert environment["MCP_CONNECTION_NONBLOCKING"] == "false"

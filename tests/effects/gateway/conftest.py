"""One proxy for all tests of this folder in a process: it takes many seconds to start."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.effects import gateway
from bench.effects.gateway import Gateway
from tests.effects.gateway.provider import Provider

PLANTED = {"ANTHROPIC_API_KEY": "sk-ant-planted-anthropic-000", "OPENAI_API_KEY": "sk-planted-openai-0000000"}
"""What the tests' environment says are provider keys."""


@pytest.fixture(scope="session")
def one_gateway() -> Iterator[Gateway]:
    """The gateway that `proxied` gives; its proxy is started by the first session that is opened."""
    made = gateway.create()
    yield made
    made.close()


@pytest.fixture
def proxied(one_gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> Gateway:
    """A gateway whose proxy holds the planted keys. They are in the environment for one test at a time: others of this
    process start programs that would find them."""
    for name, value in PLANTED.items():
        monkeypatch.setenv(f"BENCH_{name}", value)
    monkeypatch.setenv("BENCH_GATEWAY_START_S", "300")
    return one_gateway


@pytest.fixture(scope="session")
def provider() -> Iterator[Provider]:
    """What live models are asked at."""
    with Provider() as made:
        yield made


SERVER = """
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
    def log_message(self, *_):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Handler).serve_forever()
"""


@pytest.fixture
def stand_in(tmp_path: Path) -> Callable[[str], str]:
    """A program with LiteLLM's command line: runs the given Python, then serves its health route for ever."""

    def make(first: str) -> str:
        path = tmp_path / "stand-in"
        path.write_text(f"#!{sys.executable} -I\nimport os, sys, time\n{first}\n{SERVER}")
        path.chmod(0o755)
        return str(path)

    return make

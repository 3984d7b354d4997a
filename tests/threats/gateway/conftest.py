"""What these threats are tried on: the real proxy, or a small program in its place where LiteLLM is not the point."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.effects.gateway.conftest import provider, proxied

__all__ = ["provider", "proxied", "stand_in"]

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

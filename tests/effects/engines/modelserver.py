"""A model on loopback that speaks the OpenAI and the Anthropic form and says what a test scripted."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class ModelServer:
    """`replies` are (status, body, headers), the last one for ever; `asked` holds the bodies of all requests."""

    replies: list[tuple[int, dict[str, Any], dict[str, str]]]
    asked: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""
    hang: threading.Event | None = None
    """When given, no request is answered before it is set."""


def openai(text: str | None, *commands: str, usage: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """One chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if commands:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": c})}}
            for n, c in enumerate(commands)
        ]
    told = usage or {
        "prompt_tokens": 30,
        "completion_tokens": 5,
        "total_tokens": 35,
        "prompt_tokens_details": {"cached_tokens": 10},
    }
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if commands else "stop"}
    return {"id": "c1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice | more], "usage": told}


def anthropic(text: str, *commands: str) -> dict[str, Any]:
    """One message of the Messages API."""
    calls = [
        {"type": "tool_use", "id": f"toolu_{n}", "name": "bash", "input": {"command": c}} for n, c in enumerate(commands)
    ]
    usage = {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 3}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": text}, *calls],
        "stop_reason": "tool_use" if commands else "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }


def ok(body: dict[str, Any]) -> tuple[int, dict[str, Any], dict[str, str]]:
    """A successful answer."""
    return 200, body, {}


@contextlib.contextmanager
def serve(
    *replies: tuple[int, dict[str, Any], dict[str, str]], hang: threading.Event | None = None
) -> Iterator[ModelServer]:
    """Serve the replies in order, the last one again and again."""
    server = ModelServer(list(replies), hang=hang)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on stderr."""

        def do_POST(self) -> None:
            server.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            if server.hang is not None:
                server.hang.wait(30)
            status, body, headers = server.replies[min(len(server.asked), len(server.replies)) - 1]
            data = json.dumps(body).encode()
            with contextlib.suppress(ConnectionError):
                self.send_response(status)
                for name, value in (
                    {"content-type": "application/json", "content-length": str(len(data))} | headers
                ).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    server.url = f"http://127.0.0.1:{listener.server_port}"
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()

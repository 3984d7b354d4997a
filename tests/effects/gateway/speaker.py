"""A provider of the Messages API on loopback that thinks: what it says is a script's, with signatures, in many small events.

It keeps the requests and, per conversation and turn, the very events that it sent.
"""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.effects.gateway.serving import Serving

Block = dict[str, Any]
Body = dict[str, Any]


class Speaker(Serving):
    """Use as a context. `script` makes the blocks of an answer of a request's body; a whole number is a failure's status."""

    def __init__(self, script: Callable[[Body], list[Block] | int], headers: Mapping[str, str] | None = None) -> None:
        super().__init__(_Handler)
        self.script, self.headers = script, dict(headers or {})
        self.asked: list[tuple[dict[str, str], Body]] = []
        self.sent: list[tuple[Body, list[dict[str, Any]]]] = []
        self.guard = threading.Lock()


def events(blocks: list[Block], number: int, model: str) -> Iterator[dict[str, Any]]:
    """A streamed answer. Its four token counts are its own."""
    usage = {"input_tokens": 100 + number, "cache_creation_input_tokens": 2, "cache_read_input_tokens": number}
    head = {"id": f"msg_live_{number:04}", "type": "message", "role": "assistant", "model": model, "content": []}
    head |= {"stop_reason": None, "stop_sequence": None, "usage": usage | {"output_tokens": 1}}
    yield {"type": "message_start", "message": head}
    yield {"type": "ping"}
    for index, block in enumerate(blocks):
        start, deltas = _opened(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    why = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": {"output_tokens": 9}}
    yield {"type": "message_stop"}


def _opened(block: Block) -> tuple[Block, list[dict[str, Any]]]:
    if block["type"] == "text":
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in _halves(block["text"])]
    if block["type"] == "tool_use":
        parts = _halves(json.dumps(block["input"]))
        return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": part} for part in parts]
    if block["type"] == "thinking":
        thoughts = [{"type": "thinking_delta", "thinking": part} for part in _halves(block["thinking"])]
        signed = {"type": "signature_delta", "signature": block["signature"]}
        return {"type": "thinking", "thinking": "", "signature": ""}, [*thoughts, signed]
    return block, []


def _halves(text: str) -> list[str]:
    return [text[: len(text) // 2], text[len(text) // 2 :]]


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Speaker

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.owner.guard:
            self.owner.asked.append(({name.lower(): value for name, value in self.headers.items()}, body))
            said = self.owner.script(body)
            number = len(self.owner.sent)
            told = [] if isinstance(said, int) else list(events(said, number, str(body["model"])))
            self.owner.sent.append((body, told))
        if isinstance(said, int):
            kind = {401: "authentication_error", 402: "billing_error", 429: "rate_limit_error", 529: "overloaded_error"}.get(
                said, "api_error"
            )
            fault = {"type": "error", "error": {"type": kind, "message": f"told to fail with {said}"}}
            self._answer(said, "application/json", json.dumps(fault).encode(), self.owner.headers)
            return
        data = b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in told)
        self._answer(200, "text/event-stream", data, {})

    def _answer(self, status: int, kind: str, data: bytes, more: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(data)), **more}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

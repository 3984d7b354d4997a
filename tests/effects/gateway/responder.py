"""A provider of OpenAI's Responses API on loopback: what it says is a script's, and it keeps the requests."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tests.effects.gateway.serving import Serving

Body = dict[str, Any]
Item = dict[str, Any]
USAGE = {"input_tokens": 1000, "output_tokens": 50, "total_tokens": 1050, "input_tokens_details": {"cached_tokens": 400}}
"""Of every answer: 600 tokens that were read afresh, 400 out of the cache."""


class Responder(Serving):
    """Use as a context. `script` makes the output items of an answer of a request's body."""

    def __init__(self, script: Callable[[Body], list[Item]]) -> None:
        super().__init__(_Handler)
        self.script = script
        self.asked: list[tuple[str, Body]] = []
        self.guard = threading.Lock()


def text(words: str) -> Item:
    """An output item that is the model's text."""
    part = {"type": "output_text", "text": words, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def call(number: int, name: str, **given: Any) -> Item:
    """An output item that is a call of a function."""
    said = {"call_id": f"call_{number}", "name": name, "arguments": json.dumps(given), "status": "completed"}
    return {"type": "function_call", "id": f"fc_{number}", **said}


def whole(items: list[Item], model: str) -> dict[str, Any]:
    """An answer that is not streamed."""
    said = {"status": "completed", "output": items, "usage": USAGE}
    return {"id": "resp_live", "object": "response", "created_at": 1, "model": model, **said}


def events(items: list[Item], model: str) -> Iterator[dict[str, Any]]:
    """The same, streamed."""
    done = whole(items, model)
    yield {"type": "response.created", "response": done | {"status": "in_progress", "output": [], "usage": None}}
    for index, item in enumerate(items):
        place = {"output_index": index, "item_id": item["id"]}
        empty = {"content": []} if item["type"] == "message" else {"arguments": ""}
        yield {"type": "response.output_item.added", "output_index": index, "item": item | empty | {"status": "in_progress"}}
        if item["type"] == "message":
            (part,), spot = item["content"], place | {"content_index": 0}
            yield {"type": "response.content_part.added", **spot, "part": part | {"text": ""}}
            yield {"type": "response.output_text.delta", **spot, "delta": part["text"], "logprobs": []}
            yield {"type": "response.output_text.done", **spot, "text": part["text"], "logprobs": []}
            yield {"type": "response.content_part.done", **spot, "part": part}
        else:
            yield {"type": "response.function_call_arguments.delta", **place, "delta": item["arguments"]}
            yield {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": done}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Responder

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.owner.guard:
            self.owner.asked.append((self.path, body))
            items = self.owner.script(body)
        form, data = "application/json", json.dumps(whole(items, str(body["model"]))).encode()
        if body.get("stream"):
            numbered = (event | {"sequence_number": n} for n, event in enumerate(events(items, str(body["model"]))))
            form = "text/event-stream"
            data = b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in numbered)
        self.send_response(200)
        self.send_header("content-type", form)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

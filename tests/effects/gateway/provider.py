"""A provider on loopback that answers as it is told, in three protocols, and keeps what it was asked.

The last user message decides: `slow` streams an event each `SLOW_S` seconds, `stuck` has no answer for `STUCK_S` seconds,
`status <n>` fails so, all else is answered.
"""

from __future__ import annotations

import http.server
import json
import re
import time
from typing import Any

from tests.effects.gateway.serving import Serving

ANTHROPIC = {"input_tokens": 11, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 5, "output_tokens": 7}
OPENAI = {"prompt_tokens": 20, "completion_tokens": 4, "total_tokens": 24, "prompt_tokens_details": {"cached_tokens": 5}}
RESPONSES = {"input_tokens": 20, "output_tokens": 4, "total_tokens": 24, "input_tokens_details": {"cached_tokens": 5}}
ERRORS = {
    429: "rate_limit_error",
    529: "overloaded_error",
    401: "authentication_error",
    500: "api_error",
    400: "invalid_request_error",
}
SLOW_S = 1.0
STUCK_S = 30.0
EVENTS: list[dict[str, Any]] = [
    {
        "type": "message_start",
        "message": {
            "id": "msg_live",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": ANTHROPIC | {"output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2lnbmVk"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "hello"}},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]
MESSAGE = {
    "id": "msg_live",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "hello"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": ANTHROPIC,
}
COMPLETION = {
    "id": "chatcmpl-live",
    "object": "chat.completion",
    "created": 1,
    "model": "some-model",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}],
    "usage": OPENAI,
}
RESPONSE = {
    "id": "resp_live",
    "object": "response",
    "created_at": 1,
    "model": "gpt-4.1-mini",
    "status": "completed",
    "output": [
        {
            "type": "message",
            "id": "m1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "hello", "annotations": []}],
        }
    ],
    "usage": RESPONSES,
}


CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "bash", "arguments": '{"command": "ls"}'}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "b3BhcXVl"}
STREAMED: list[dict[str, Any]] = [
    {"type": "response.created", "response": RESPONSE | {"status": "in_progress", "output": [], "usage": None}},
    {"type": "response.output_item.added", "output_index": 0, "item": THOUGHT},
    {"type": "response.output_item.done", "output_index": 0, "item": THOUGHT},
    {"type": "response.output_item.added", "output_index": 1, "item": CALL | {"arguments": "", "status": "in_progress"}},
    {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 1, "delta": CALL["arguments"]},
    {"type": "response.function_call_arguments.done", "item_id": "fc_1", "output_index": 1, "arguments": CALL["arguments"]},
    {"type": "response.output_item.done", "output_index": 1, "item": CALL | {"status": "completed"}},
    {"type": "response.completed", "response": RESPONSE | {"output": [THOUGHT, CALL | {"status": "completed"}]}},
]


class Provider(Serving):
    """Use as a context. `asked` holds (path, headers, body) of every request."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Provider

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.owner.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        last = json.dumps((body.get("messages") or body.get("input"))[-1])
        failing = re.search(r"status (\d+)", last)
        if "stuck" in last:
            time.sleep(STUCK_S)
            self.close_connection = True
        elif failing:
            self.fail(int(failing[1]))
        elif "chat/completions" in self.path:
            self.whole(COMPLETION)
        elif "responses" in self.path and not body.get("stream"):
            self.whole(RESPONSE)
        elif body.get("stream"):
            self.stream(STREAMED if "responses" in self.path else EVENTS, SLOW_S if "slow" in last else 0.0)
        else:
            self.whole(MESSAGE)

    def fail(self, status: int) -> None:
        error = {"type": "error", "error": {"type": ERRORS[status], "message": f"told to fail with {status}"}}
        self.whole(error, status, {"retry-after": "77"})

    def whole(self, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in ({"content-type": "application/json", "content-length": str(len(data))} | (headers or {})).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events: list[dict[str, Any]], pause: float) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for number, event in enumerate(events):
                if events is STREAMED:
                    event = event | {"sequence_number": number}
                data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                time.sleep(pause)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True  # the stream was cut, which is what some tests want

"""A provider on loopback that answers from cassettes, in the provider's own protocol, one path per session.

Recorded events go out as they were recorded, so that thinking blocks and signatures survive. What a cassette does not hold
is a 400, which ends a client at once, and stays a mismatch of its session. The client's own small requests that no
conversation needs (no tools offered, prompt not recorded) never come here: `side_answer` serves them.
"""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.effects import cassette_requests, cassettes
from bench.effects.gateway.gate import CHAT, Call
from bench.effects.gateway.wire import Answer

SIDE_TEXT = '{"title": "Session", "isNewTopic": false}'
"""What asks for a title or a topic gets; whatever else asks makes nothing of it."""


def request_of(call: Call, model: str) -> cassettes.Request:
    """What of a client's call a cassette matches."""
    read = cassette_requests.from_openai if call.path == CHAT else cassette_requests.from_anthropic
    messages = call.body.get("messages")
    return read(model, messages if isinstance(messages, list) else [])


def is_side(call: Call, cassette: cassettes.Cassette) -> bool:
    """Whether a call is the client's own affair: no tools offered, and no conversation begins like it."""
    if call.body.get("tools"):
        return False
    wanted = cassettes.prompt_digest(request_of(call, cassette.model).prompt)
    return all(conversation["prompt"] != wanted for conversation in cassette.conversations)


def side_answer(call: Call, model: str) -> Answer:
    """A fixed message that cost nothing."""
    usage = {"input_tokens": 0, "output_tokens": 0}
    message = {
        "id": "msg_side",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": SIDE_TEXT}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }
    if not call.stream:
        return Answer(200, json.dumps(message).encode())
    return Answer(200, b"".join(_framed(events_of(message))), "text/event-stream")


def events_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A whole message as the events that would have streamed it."""
    head = dict(message) | {"content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": head}]
    for index, block in enumerate(message["content"]):
        start, deltas = _opened(block)
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": message.get("stop_reason"), "stop_sequence": message.get("stop_sequence")}
    events.append({"type": "message_delta", "delta": stop, "usage": dict(message.get("usage") or {})})
    return [*events, {"type": "message_stop"}]


def _opened(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    kind = block.get("type")
    if kind == "text":
        return dict(block) | {"text": ""}, [{"type": "text_delta", "text": block["text"]}]
    if kind == "tool_use":
        return dict(block) | {"input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
    if kind == "thinking":
        signed = {"type": "signature_delta", "signature": block.get("signature", "")}
        return {"type": "thinking", "thinking": "", "signature": ""}, [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            signed,
        ]
    return dict(block), []


def _framed(events: Iterable[Mapping[str, Any]]) -> Iterable[bytes]:
    for event in events:
        name = f"event: {event['type']}\n" if "type" in event else ""
        yield f"{name}data: {json.dumps(event)}\n\n".encode()


class Replays:
    """The server; `open` gives a session its address."""

    def __init__(self) -> None:
        self._players: dict[str, cassettes.Player] = {}
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"replays": self}))
        self._server.daemon_threads = True
        self._server.block_on_close = False
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True, name="replays").start()

    def open(self, token: str, player: cassettes.Player) -> str:
        """The address of one session's provider."""
        self._players[token] = player
        return f"http://127.0.0.1:{self._server.server_address[1]}/{token}"

    def shut(self, token: str) -> None:
        """No more answers at this address."""
        self._players.pop(token, None)

    def player(self, token: str) -> cassettes.Player | None:
        """Who answers at an address."""
        return self._players.get(token)

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    replays: Replays

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_POST(self) -> None:
        """One model call."""
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        _empty, token, *rest = self.path.partition("?")[0].split("/")
        player = self.replays.player(token)
        if player is None:
            self._refuse("no session is served here")
            return
        openai = rest[-2:] == ["chat", "completions"]
        call = Call(CHAT if openai else "", body, {})
        found = player.answer(request_of(call, player.cassette.model))
        if isinstance(found, cassettes.Mismatch):
            self._refuse(str(found))
        elif body.get("stream") is True:
            self._stream(_chunks(found) if openai else _events(found), openai)
        else:
            whole = cassette_requests.openai_completion(found) if openai else cassette_requests.anthropic_message(found)
            self._whole(200, json.dumps(whole).encode())

    def _refuse(self, message: str) -> None:
        error = {"type": "invalid_request_error", "message": message}
        self._whole(400, json.dumps({"type": "error", "error": error}).encode())

    def _whole(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Sequence[Mapping[str, Any]], openai: bool) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        frames = [*_framed(events), *([b"data: [DONE]\n\n"] if openai else [])]
        for data in frames:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n")


def _events(found: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return events_of(found[0]) if found[0].get("type") == "message" else found


def _chunks(found: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Chunks of a chat completion; a whole one becomes two, its usage last."""
    if found[0].get("object") != "chat.completion":
        return found
    whole = found[0]
    head = {name: whole.get(name) for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    said = dict(whole["choices"][0]["message"])
    if said.get("tool_calls"):
        said["tool_calls"] = [dict(call) | {"index": n} for n, call in enumerate(said["tool_calls"])]
    first = head | {"choices": [{"index": 0, "delta": said, "finish_reason": None}]}
    last = head | {"choices": [{"index": 0, "delta": {}, "finish_reason": whole["choices"][0].get("finish_reason")}]}
    return [first, last, head | {"choices": [], "usage": whole.get("usage")}]

"""A gateway whose model is a script: a real HTTP server on a Unix socket that streams answers as the Messages API does.

It counts as the real one does and notes every request that reached it. Nothing in the client, relay or sandbox knows it.
"""

from __future__ import annotations

import http.server
import json
import shutil
import socketserver
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.effects.gateway import SOCKET, Ask, Traffic

Block = dict[str, Any]
Body = dict[str, Any]
Reply = list[Block] | int
Script = Callable[[Body], Reply]
KEY = "key-of-the-door-0123456789"
MODEL = "claude-sonnet-4-5"
IN, OUT = 11, 7


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def tool(name: str, number: int = 1, **given: Any) -> Block:
    return {"type": "tool_use", "id": f"toolu_{name}_{number}", "name": name, "input": given}


def turns(*replies: Reply, sub: tuple[Reply, ...] = ()) -> Script:
    """The nth answer of a conversation; one that holds the word SUBAGENT has answers of its own."""

    def script(body: Body) -> Reply:
        chosen = sub if sub and "SUBAGENT" in json.dumps(body["messages"][0]) else replies
        at = sum(1 for message in body["messages"] if message["role"] == "assistant")
        return chosen[min(at, len(chosen) - 1)]

    return script


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_given: Any) -> None:
        """Nothing on standard error."""

    def do_POST(self) -> None:
        server: Any = self.server
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        server.seen.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        if self.headers.get("x-api-key") != KEY or self.headers.get("x-assay-foreign") or server.revoked:
            server.foreign += 0 if server.revoked else 1
            self._failed(403, "permission_error")
            return
        reply = server.script(body)
        if isinstance(reply, int):
            self._failed(reply, "rate_limit_error" if reply == 429 else "api_error")
            return
        server.answered += 1
        effort = (body.get("output_config") or {}).get("effort", "")
        server.efforts[effort] = server.efforts.get(effort, 0) + 1
        self._stream(reply, body.get("model"))

    def _failed(self, status: int, kind: str) -> None:
        said = json.dumps({"type": "error", "error": {"type": kind, "message": f"{status} refused"}}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(said)))
        self.send_header("x-should-retry", "false")
        self.end_headers()
        self.wfile.write(said)

    def _stream(self, reply: list[Block], model: Any) -> None:
        server: Any = self.server
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        usage = {"input_tokens": IN, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        message = {"id": f"msg_{server.answered}", "type": "message", "role": "assistant", "model": model, "content": []}
        self._event("message_start", message=message | {"stop_reason": None, "stop_sequence": None, "usage": usage})
        for index, block in enumerate(reply):
            said = block["type"] == "text"
            empty = {"text": ""} if said else {"input": {}}
            delta = (
                {"type": "text_delta", "text": block["text"]}
                if said
                else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            )
            self._event("content_block_start", index=index, content_block=block | empty)
            self._event("content_block_delta", index=index, delta=delta)
            self._event("content_block_stop", index=index)
        stop = "tool_use" if any(block["type"] == "tool_use" for block in reply) else "end_turn"
        self._event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": OUT})
        self._event("message_stop")

    def _event(self, kind: str, **more: Any) -> None:
        self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode())


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def __init__(self, path: str, script: Script) -> None:
        super().__init__(path, _Handler)
        self.script = script
        self.seen: list[tuple[str, dict[str, str], Body]] = []
        self.answered = self.foreign = 0
        self.efforts: dict[str, int] = {}
        self.revoked = False

    def get_request(self) -> Any:
        request, _address = super().get_request()
        return request, ("client", 0)

    def handle_error(self, *_given: Any) -> None:
        """A client that went away is none of the test's business."""


class ScriptedDoor:
    """One session's way to the script."""

    def __init__(self, ask: Ask, script: Script, outage: Mapping[str, Any] | None) -> None:
        self.ask, self.model, self.placeholder = ask, MODEL, KEY
        self.folder = Path(tempfile.mkdtemp(prefix="door-"))
        self.server = _Server(str(self.folder / SOCKET), script)
        self._outage = outage
        self._traffic: Traffic | None = None
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def revoke(self) -> None:
        self.server.revoked = True

    def close(self) -> Traffic:
        if self._traffic is None:
            self.server.shutdown()
            self.server.server_close()
            self._thread.join()
            shutil.rmtree(self.folder)
            n = self.server.answered
            usage = {"input_tokens": IN * n, "output_tokens": OUT * n}
            usage |= {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
            calls = tuple({"status": "ok", "started_at": 1.0, "completed_at": 2.0} for _ in range(n))
            self._traffic = Traffic(
                usage,
                calls,
                0.001 * n,
                0.001 * n,
                False,
                outage=self._outage,
                foreign=self.server.foreign,
                efforts=self.server.efforts,
            )
        return self._traffic


class ScriptedGateway:
    """Opens doors to one script."""

    def __init__(self, script: Script, outage: Mapping[str, Any] | None = None) -> None:
        self.script, self.outage = script, outage
        self.doors: list[ScriptedDoor] = []

    def open(self, ask: Ask) -> ScriptedDoor:
        self.doors.append(ScriptedDoor(ask, self.script, self.outage))
        return self.doors[-1]

    def close(self) -> None:
        for door in self.doors:
            door.close()

    @property
    def seen(self) -> list[tuple[str, dict[str, str], Body]]:
        """Every request of every door: path, headers in lower case, body."""
        return [request for door in self.doors for request in door.server.seen]

    def __call__(self) -> ScriptedGateway:
        return self

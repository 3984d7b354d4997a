"""What of a sandboxed client's requests may pass to the model proxy: calls of one model, in the fields of the public APIs.

The proxy obeys fields that no provider knows (fallback models, mock answers, other addresses), so a body is rebuilt from the
fields of the API and the rest is left out. Tools that the provider itself would run reach the network, and are refused. The
gate never changes what a conversation says.
"""

from __future__ import annotations

import hmac
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.effects.gateway.wire import Answer, Asked, refusal

MESSAGES, COUNT = "/v1/messages", "/v1/messages/count_tokens"
CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
FIELDS: Mapping[str, frozenset[str]] = {
    MESSAGES: frozenset(
        [
            "model",
            "messages",
            "max_tokens",
            "system",
            "tools",
            "tool_choice",
            "temperature",
            "top_p",
            "top_k",
            "stop_sequences",
            "stream",
            "thinking",
            "metadata",
            "output_config",
            "output_format",
            "context_management",
            "cache_control",
        ]
    ),
    CHAT: frozenset(
        [
            "model",
            "messages",
            "tools",
            "tool_choice",
            "parallel_tool_calls",
            "temperature",
            "top_p",
            "max_tokens",
            "max_completion_tokens",
            "stop",
            "stream",
            "stream_options",
            "seed",
            "response_format",
            "reasoning_effort",
            "frequency_penalty",
            "presence_penalty",
            "verbosity",
        ]
    ),
    RESPONSES: frozenset(
        [
            "model",
            "input",
            "instructions",
            "tools",
            "tool_choice",
            "parallel_tool_calls",
            "temperature",
            "top_p",
            "max_output_tokens",
            "stream",
            "reasoning",
            "text",
            "include",
            "store",
            "truncation",
        ]
    ),
}
_OWN_TOOLS = (
    "custom",
    "function",
    "bash_",
    "text_editor_",
    "computer_",
    "memory_",
    "tool_search_",
    "local_shell",
    "apply_patch",
)
"""Kinds of tools that the client runs; any other kind is run by the provider."""
MOST_NOTED = 200
DEEPEST = 200
"""Levels of a conversation: it is read, compared and redacted by functions that call themselves for each."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request that may pass."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    data: bytes = b""
    """The body as it is sent on."""

    @property
    def stream(self) -> bool:
        """Whether the answer is wanted as a stream."""
        return self.body.get("stream") is True


class Gate:
    """One session's. `refused` and `foreign` are as in `Traffic`."""

    def __init__(self, model: str, placeholder: str, client: str | None = None) -> None:
        self.refused: list[dict[str, Any]] = []
        self.foreign = 0
        self.efforts: dict[str, int] = {}
        self._model, self._placeholder, self._client = model, placeholder, client
        self._shut: str | None = None
        self._guard = threading.Lock()

    def shut(self, why: str) -> None:
        """From now on nothing passes."""
        self._shut = self._shut or why

    @property
    def is_shut(self) -> bool:
        """Whether `shut` was called."""
        return self._shut is not None

    def judge(self, asked: Asked) -> Call | Answer:
        """A call, or the answer that it gets instead. The body of a request that its head bars is not read."""
        barred = self._barred(asked)
        if barred is not None:
            return barred
        data = asked.read()
        try:
            return self._judged(asked, data)
        except RecursionError:
            return self._malformed(asked, "the request is nested too deeply")

    def _judged(self, asked: Asked, data: bytes) -> Call | Answer:
        try:
            body = json.loads(data)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return self._malformed(asked, "the request's body is no JSON object")
        if body.get("model") != self._model:
            return self._note(asked, "model", model=str(body.get("model"))[:100])
        if _deep(body.get("messages")):
            return self._malformed(asked, f"messages: nested more than {DEEPEST} levels deep")
        if not _shaped(body.get("messages")):
            return self._malformed(asked, "messages: not a list of messages")
        if not _runs_itself(body.get("tools")):
            return self._note(asked, "server tool")
        if asked.path == COUNT:
            return Answer(200, json.dumps({"input_tokens": estimate(data)}).encode())
        kept = _rebuilt(asked.path, body)
        sent = json.dumps(kept).encode()
        with self._guard:
            effort = _effort(body)
            if effort in self.efforts or len(self.efforts) < MOST_NOTED:
                self.efforts[effort] = self.efforts.get(effort, 0) + 1
        return Call(asked.path, kept, _kept(asked), sent)

    def _barred(self, asked: Asked) -> Answer | None:
        """Why a request is not even read."""
        if asked.method == "HEAD":
            return Answer(404, b"")  # a client's look whether anybody is there
        if self._shut is not None:
            return self._note(asked, self._shut)
        if asked.method != "POST" or asked.path not in (*FIELDS, COUNT):
            return self._note(asked, "route")
        known = self._knows(asked)
        if not known or (self._client and not asked.headers.get("user-agent", "").startswith(self._client)):
            with self._guard:
                self.foreign += 1
        return None if known else self._note(asked, "key")

    def _malformed(self, asked: Asked, why: str) -> Answer:
        return self._note(asked, "body", refusal(400, "invalid_request_error", why))

    def _knows(self, asked: Asked) -> bool:
        given = [asked.headers.get("x-api-key"), asked.headers.get("authorization", "").removeprefix("Bearer ") or None]
        return any(hmac.compare_digest(key.encode(), self._placeholder.encode()) for key in given if key is not None)

    def _note(self, asked: Asked, why: str, answer: Answer | None = None, model: str | None = None) -> Answer:
        """Keep a refusal, and give its answer: 403, which ends a client at once where 401 and 500 are tried again."""
        entry = {"why": why, "method": asked.method[:20], "path": asked.path[:200]} | ({"model": model} if model else {})
        with self._guard:
            if len(self.refused) < MOST_NOTED:
                self.refused.append(entry)
        if answer is not None:
            return answer
        return refusal(403, "permission_error", f"this door serves {self._model} only, and refuses: {why}")


def _effort(body: Mapping[str, Any]) -> str:
    """How much thought a request asks for, in any of the three forms; "" for none."""
    for holder, name in (
        (body, "reasoning_effort"),
        (body.get("output_config"), "effort"),
        (body.get("reasoning"), "effort"),
    ):
        value = holder.get(name) if isinstance(holder, Mapping) else None
        if isinstance(value, str):
            return value[:20]
    return ""


def estimate(body: bytes) -> int:
    """Tokens of a request, four bytes each: an answer to the client's question that asks no provider."""
    return max(1, len(body) // 4)


def _deep(value: Any) -> bool:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        inner = (part for one in level for part in (one.values() if isinstance(one, dict) else one))
        level = [part for part in inner if isinstance(part, dict | list)]
        if not level:
            return False
    return True


def _shaped(messages: Any) -> bool:
    """Whether messages have the shape that cassettes read: what they say is the provider's to judge."""
    if messages is None:
        return True
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return False
    return all(_parts(message.get("content")) and _objects(message.get("tool_calls")) for message in messages)


def _parts(content: Any) -> bool:
    if content is None or isinstance(content, str):
        return True
    return isinstance(content, list) and all(isinstance(p, dict) and _parts(p.get("content")) for p in content)


def _objects(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(item, dict) for item in value))


def _runs_itself(tools: Any) -> bool:
    if not isinstance(tools, list):
        return True
    kinds = [tool.get("type") for tool in tools if isinstance(tool, dict)]
    return all(kind is None or (isinstance(kind, str) and kind.startswith(_OWN_TOOLS)) for kind in kinds)


def _rebuilt(path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in body.items() if name in FIELDS[path]}
    if "metadata" in kept:
        told = kept["metadata"]
        kept["metadata"] = {"user_id": told["user_id"]} if isinstance(told, dict) and "user_id" in told else {}
    return kept


def _kept(asked: Asked) -> dict[str, str]:
    wanted = ("anthropic-version", "anthropic-beta", "accept")
    return {name: asked.headers[name] for name in wanted if name in asked.headers}

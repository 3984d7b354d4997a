"""Reads chat requests of either format into what a cassette matches, and assembles recorded events into one message.

It never looks at system prompts, tool schemas or sampling parameters: those are not matched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from bench.effects.cassettes import Request, Result

STATUS = "exit status: "
"""How a tool result of the OpenAI format begins, which has no error flag of its own."""

_FAILED = re.compile(rf"\A{STATUS}(?!0$)", re.MULTILINE)
_HEADER = re.compile(rf"\A{STATUS}[^\n]*\n?")


def from_openai(model: str, messages: Sequence[Mapping[str, Any]]) -> Request:
    """Chat-completion messages. A tool result is an error if it says `is_error`, or begins with a status other than 0."""
    prompt: str | None = None
    calls: list[list[str]] = []
    results: list[list[Result]] = []
    for message in messages:
        role = message.get("role")
        if role == "user" and prompt is None:
            prompt = _text(message.get("content"))
        elif role == "assistant":
            calls.append([str(call.get("id")) for call in message.get("tool_calls") or []])
            results.append([])
        elif role == "tool" and calls:
            text = _text(message.get("content"))
            failed = bool(message.get("is_error")) or bool(_FAILED.match(text))
            results[-1].append(Result(str(message.get("tool_call_id")), failed, _HEADER.sub("", text)))
    return _request(model, prompt, calls, results)


def from_anthropic(model: str, messages: Sequence[Mapping[str, Any]]) -> Request:
    """Messages-API messages. Assistant messages that follow one another without a user's are one turn."""
    prompt: str | None = None
    calls: list[list[str]] = []
    results: list[list[Result]] = []
    before = ""
    for message in messages:
        role, content = message.get("role"), message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])
        if role == "assistant":
            if before != "assistant":
                calls.append([])
                results.append([])
            calls[-1] += [str(b.get("id")) for b in blocks if b.get("type") == "tool_use"]
        else:
            if prompt is None:
                prompt = _text(blocks)
            for block in blocks:
                if block.get("type") == "tool_result" and results:
                    failed = block.get("is_error") is True
                    text = _HEADER.sub("", _text(block.get("content")))
                    results[-1].append(Result(str(block.get("tool_use_id")), failed, text))
        before = str(role)
    return _request(model, prompt, calls, results)


def _request(model: str, prompt: str | None, calls: list[list[str]], results: list[list[Result]]) -> Request:
    return Request(model, prompt or "", tuple(map(tuple, calls)), tuple(map(tuple, results)))


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")
    return content if isinstance(content, str) else ""


def anthropic_message(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One Messages-API message out of server-sent events (or of the one whole message among them)."""
    message: dict[str, Any] = {"content": [], "stop_reason": None, "usage": {}}
    partial: dict[int, str] = {}
    for event in events:
        kind = event.get("type")
        if kind == "message":
            return dict(event)
        if kind == "message_start":
            message |= event["message"]
            message["content"], message["usage"] = [], dict(event["message"].get("usage") or {})
        elif kind == "content_block_start":
            message["content"].append(dict(event["content_block"]))
        elif kind == "content_block_delta":
            _grow(message["content"][event["index"]], event["delta"], partial, event["index"])
        elif kind == "message_delta":
            message |= {k: v for k, v in event["delta"].items() if v is not None}
            message["usage"] |= {k: v for k, v in (event.get("usage") or {}).items() if v is not None}
    for index, text in partial.items():
        message["content"][index]["input"] = json.loads(text or "{}")
    return message


def _grow(block: dict[str, Any], delta: Mapping[str, Any], partial: dict[int, str], index: int) -> None:
    kind = delta.get("type")
    if kind == "input_json_delta":
        partial[index] = partial.get(index, "") + delta["partial_json"]
        return
    for field in ("text", "thinking", "signature"):
        if kind == f"{field}_delta":
            block[field] = block.get(field, "") + delta[field]


def openai_completion(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One chat completion out of its chunks (or of the one whole completion among them)."""
    out: dict[str, Any] = {"object": "chat.completion", "usage": None}
    said: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    finish = None
    for event in events:
        if event.get("object") == "chat.completion":
            return dict(event)
        out |= {k: event[k] for k in ("id", "model", "created", "system_fingerprint") if event.get(k) is not None}
        out["usage"] = event.get("usage") or out["usage"]
        for choice in event.get("choices", [])[:1]:
            delta = choice.get("delta") or {}
            finish = choice.get("finish_reason") or finish
            if delta.get("content"):
                said["content"] = (said["content"] or "") + delta["content"]
            for part in delta.get("tool_calls") or []:
                _join(calls, part)
    if calls:
        said["tool_calls"] = [calls[index] for index in sorted(calls)]
    return out | {"choices": [{"index": 0, "message": said, "finish_reason": finish}]}


def _join(calls: dict[int, dict[str, Any]], part: Mapping[str, Any]) -> None:
    call = calls.setdefault(
        part.get("index", 0), {"id": None, "type": "function", "function": {"name": "", "arguments": ""}}
    )
    call["id"] = part.get("id") or call["id"]
    function = part.get("function") or {}
    call["function"]["name"] += function.get("name") or ""
    call["function"]["arguments"] += function.get("arguments") or ""

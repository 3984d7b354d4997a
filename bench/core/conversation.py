"""A transcript (JSON Lines) as turns to read: who spoke, what was said, called and returned. For people, never evidence.

Knows chat messages (`role`, `content`, `tool_calls`), stream events (`type`, `message`), and shows anything else as it is.
No line makes it fail: what cannot be read is shown raw.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

PART_LIMIT = 20_000
"""Characters shown of one part: head and tail halves."""
TOTAL_LIMIT = 1_000_000
"""Characters shown of one transcript."""
ROLES = ("system", "user", "assistant", "tool")


def turns(transcript: bytes, *, phases: Sequence[tuple[str, int]] = ()) -> list[dict[str, Any]]:
    """[{who, number, aside, parts: [{kind, name, text, error, cut}]}]; kind: text, thinking, call, result, data, raw.

    `number` counts the assistant's turns from 1 and is None elsewhere; what a client tells block by block under one message
    id is one turn. `aside`: said in a subagent's conversation. `phases`: name and number of lines of each, in order; where
    there are several, a turn of who `phase`, whose one part is its name, stands before each.
    """
    found: list[dict[str, Any]] = []
    spoken = shown = 0
    before: object = None
    begins = _beginnings(phases)
    for line, event in enumerate(_events(transcript)):
        found += begins.get(line, [])
        if shown > TOTAL_LIMIT:
            found.append(_turn("note", [_part("data", "the rest is left out of this page")]))
            break
        who, parts = _said(event)
        for part in parts:
            part["text"], part["cut"] = _cut(part["text"])
            shown += len(part["text"])
        message = _message(event) if who == "assistant" else None
        if message is not None and message == before and found[-1]["who"] == who:
            found[-1]["parts"] += parts
            continue
        before = message
        spoken += who == "assistant"
        found.append(_turn(who, parts, spoken if who == "assistant" else None, _aside(event)))
    return found


def _turn(who: str, parts: list[dict[str, Any]], number: int | None = None, aside: bool = False) -> dict[str, Any]:
    return {"who": who, "number": number, "aside": aside, "parts": parts}


def _beginnings(phases: Sequence[tuple[str, int]]) -> dict[int, list[dict[str, Any]]]:
    """Line at which a phase begins → its headings; one for each where phases without a line come before it."""
    found: dict[int, list[dict[str, Any]]] = {}
    line = 0
    for name, lines in phases if len(phases) > 1 else ():
        found.setdefault(line, []).append(_turn("phase", [_part("text", name)]))
        line += lines
    return found


def _message(event: object) -> str | None:
    """The id of the message that an event is a part of."""
    message = event.get("message") if isinstance(event, dict) else None
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, str) else None


def _aside(event: object) -> bool:
    return isinstance(event, dict) and isinstance(event.get("parent_tool_use_id"), str)


def _events(transcript: bytes) -> Iterator[object]:
    """Each line as JSON, or as it is where it is none."""
    for line in transcript.decode("utf-8", "backslashreplace").split("\n"):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        yield event if isinstance(event, dict) else line


def _said(event: object) -> tuple[str, list[dict[str, Any]]]:
    return _event(event) if isinstance(event, dict) else ("event", [_part("raw", event)])


def _event(event: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    message = event.get("message")
    if isinstance(message, dict):
        who = message.get("role") or event.get("type")
        parts = _content(message.get("content")) + _calls(message.get("tool_calls"))
    else:
        who = event.get("role") or event.get("type")
        parts = _content(event.get("content")) + _calls(event.get("tool_calls"))
        if who == "tool":
            parts = [part | {"kind": "result"} for part in parts]
    if who == "user" and parts and all(part["kind"] == "result" for part in parts):
        who = "tool"
    if who not in ROLES or not parts:
        label = " ".join(str(event[name]) for name in ("type", "subtype") if isinstance(event.get(name), str))
        return (who if who in ROLES else "event"), parts or [_part("data", _pretty(event), name=label or None)]
    return str(who), parts


def _content(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [_part("text", content)] if content else []
    if not isinstance(content, list):
        return [] if content is None else [_part("data", _pretty(content))]
    return [_block(block) for block in content]


def _block(block: object) -> dict[str, Any]:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(block, dict):
        return _part("text", block) if isinstance(block, str) else _part("data", _pretty(block))
    if kind == "text":
        return _part("text", block.get("text", ""))
    if kind == "thinking":
        return _part("thinking", block.get("thinking", ""))
    if kind == "tool_use":
        return _part("call", _arguments(block.get("input")), name=block.get("name"))
    if kind == "tool_result":
        inner = _content(block.get("content"))
        return _part("result", "\n".join(part["text"] for part in inner), error=block.get("is_error") is True)
    return _part("data", _pretty(block), name=kind if isinstance(kind, str) else None)


def _calls(calls: object) -> list[dict[str, Any]]:
    found = []
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            found.append(_part("data", _pretty(call)))
            continue
        found.append(_part("call", _arguments(function.get("arguments")), name=function.get("name")))
    return found


def _arguments(value: object) -> str:
    """A call's input; a single string argument (a command, a path) is shown as it is."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return str(value)
    if isinstance(value, dict) and len(value) == 1:
        only = next(iter(value.values()))
        if isinstance(only, str):
            return only
    return _pretty(value)


def _part(kind: str, text: object, *, name: object = None, error: bool = False) -> dict[str, Any]:
    said = text if isinstance(text, str) else _pretty(text)
    return {"kind": kind, "name": None if name is None else str(name), "text": said, "error": error, "cut": 0}


def _pretty(value: object) -> str:
    try:
        return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    except RecursionError:
        return "(nested too deeply to be shown)"


def _cut(text: str) -> tuple[str, int]:
    """Head and tail of a long text, and how many characters between them were left out."""
    left_out = len(text) - PART_LIMIT
    if left_out <= 0:
        return text, 0
    half = PART_LIMIT // 2
    return f"{text[:half]}\n[… {left_out} characters left out …]\n{text[-half:]}", left_out

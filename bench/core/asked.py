"""What a session asked its tools to do, read from its transcript: for alarms, never for a verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def commands(transcript: bytes) -> list[str]:
    """What a session asked its tools to do: every string below a tool call's input, whichever engine wrote the events."""
    found: list[str] = []
    for raw in transcript.splitlines():
        try:
            event = json.loads(raw)
        except (ValueError, RecursionError):
            continue
        for call in _calls(event):
            found += _strings(call)
    return found


def _calls(value: Any, depth: int = 0) -> Iterator[Any]:
    if depth > 20:
        return
    if isinstance(value, dict):
        if value.get("type") in ("tool_use", "function_call", "tool_call") or "function" in value:
            for key in ("input", "arguments", "function", "command"):
                if key in value:
                    yield value[key]
            return
        for item in value.values():
            yield from _calls(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _calls(item, depth + 1)


def _strings(value: Any, depth: int = 0) -> list[str]:
    if depth > 20:
        return []
    if isinstance(value, str):
        if value[:1] in "{[" and value:
            try:
                return _strings(json.loads(value), depth + 1)
            except (ValueError, RecursionError):
                return [value]
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _strings(item, depth + 1)]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item, depth + 1)]
    return []

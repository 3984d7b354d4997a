"""The transcript that the harness keeps of a session: canonical JSON Lines, redacted, bounded, made by the parent alone.

Events are those of a stream-json session: system, then user and assistant with `message.content` blocks (text, tool_use,
tool_result), at last one result. No clock, so that a replay gives the same bytes. Lone surrogates, which a model may send
and UTF-8 cannot hold, are kept as JSON escapes; hostile text stays text.
"""

from __future__ import annotations

import json
import re
from typing import Any

from bench.effects import console
from bench.effects.redact import Redactor

LIMIT = 8 << 20
"""Bytes; a session that says more is unverifiable (spec of the reference, 3.4)."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_COMMAND = re.compile(r"(:(?=:)|#(?=#\[))")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def dump(value: Any) -> str:
    """Canonical JSON of one value, one line without its newline; survives lone surrogates. Raises ValueError for NaN."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _SURROGATE.sub(lambda m: f"\\u{ord(m.group()):04x}", text)


def lines(values: list[Any], redactor: Redactor) -> bytes:
    """JSON Lines of redacted values."""
    return b"".join(dump(redactor.value(value)).encode() + b"\n" for value in values)


def preview(text: str, limit: int = 800) -> str:
    """A piece of untrusted text for a log line: one line, what cannot be seen as escapes, nothing that a CI reads as a
    command."""
    plain = console.visible(_CONTROL.sub(" ", text[: limit * 2]).strip())
    return _COMMAND.sub(r"\1 ", plain[:limit])


def cut(text: str, limit: int) -> str:
    """Head and tail of a text longer than `limit` characters, with a note of how much is missing between them."""
    if len(text) <= limit:
        return text
    head = limit // 2
    tail = limit - head
    return f"{text[:head]}\n[… {len(text) - limit} characters left out …]\n{text[-tail:]}"


class Transcript:
    """Collects events; `full` once they exceed LIMIT bytes."""

    def __init__(self) -> None:
        self._events: list[dict[str, Any]] = []
        self._size = 0

    @property
    def full(self) -> bool:
        """Whether the limit was passed."""
        return self._size > LIMIT

    def add(self, kind: str, **fields: Any) -> None:
        """Append one event of type `kind`."""
        event = {"type": kind} | fields
        self._size += len(dump(event))
        self._events.append(event)

    def message(self, role: str, content: list[dict[str, Any]]) -> None:
        """Append what a role said, as content blocks."""
        self.add(role, message={"role": role, "content": content})

    def to_bytes(self, redactor: Redactor) -> bytes:
        """The transcript as it is kept."""
        return lines(self._events, redactor)

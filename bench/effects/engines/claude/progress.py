"""Follows a running client line by line: keeps what it says, shows short previews, and ends it at the token limit.

Previews are redacted, one line each, without control characters and without anything that a CI reads as a command. What is
kept is what came, byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bench.core.records import TOKENS
from bench.effects.engines.claude.stream import blocks, tokens_of
from bench.effects.engines.transcript import preview
from bench.effects.redact import Redactor

PREVIEW = 200
LONGEST = 1 << 20
"""Bytes of a line that is still looked at; a longer one is kept and not shown."""


class Stopped(Exception):
    """The client has passed a bound of ours."""


class Progress:
    """The `watch` of one run."""

    def __init__(self, log: Callable[[str], None], redactor: Redactor, tokens: int | None) -> None:
        self._log, self._redactor, self._tokens = log, redactor, tokens
        self._line = bytearray()
        self._used: dict[str, int] = {}
        self.kept = bytearray()

    def __call__(self, name: str, data: bytes) -> None:
        """Some output. Raises Stopped."""
        if name != "stdout":
            return
        self.kept += data
        *ends, rest = data.split(b"\n")
        for end in ends:
            line, self._line = bytes(self._line) + end, bytearray()
            self._saw(line)
        if len(self._line) <= LONGEST:
            self._line += rest

    def _saw(self, line: bytes) -> None:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(event, dict) or event.get("type") != "assistant":
            return
        for block in blocks(event):
            self._show(block)
        self._count(event.get("message"))

    def _show(self, block: Any) -> None:
        if block.get("type") == "tool_use":
            given = json.dumps(block.get("input"), ensure_ascii=False)
            self._log(preview(self._redactor.text(f"{block.get('name')} {given}"), PREVIEW))
        elif block.get("type") == "text":
            self._log(preview(self._redactor.text(str(block.get("text"))), PREVIEW))

    def _count(self, message: Any) -> None:
        usage = tokens_of(message.get("usage")) if isinstance(message, dict) else None
        if usage is None or self._tokens is None:
            return
        # One message comes as several events, each with its usage so far.
        self._used[str(message.get("id"))] = sum(usage[name] for name in TOKENS)
        if sum(self._used.values()) >= self._tokens:
            raise Stopped

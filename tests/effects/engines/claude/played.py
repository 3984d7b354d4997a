"""A session of the engine whose client's output is given: everything but the client and the sandbox is real."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.effects.engines import Outcome, Room, Work
from bench.effects.engines.claude.engine import Claude
from bench.effects.gateway import Ask, Traffic
from bench.effects.sandbox import Finished
from tests.effects.engines.claude.scripted import KEY, MODEL
from tests.effects.engines.claude.test_stream import INIT, RESULT

USAGE = {"input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 10}


class Door:
    """Leads nowhere; says what it is told to say of the traffic."""

    def __init__(self, folder: Path, traffic: Traffic) -> None:
        self.folder, self.model, self.placeholder, self._traffic = folder, MODEL, KEY, traffic
        self.closed = 0

    def revoke(self) -> None:
        """Nothing goes through anyway."""

    def close(self) -> Traffic:
        self.closed += 1
        return self._traffic


def lines(*events: Mapping[str, Any]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def said(text: str) -> dict[str, Any]:
    """A tool's answer."""
    return {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": text}]}}


WHOLE = lines(INIT, RESULT)


def played(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    done: Finished,
    traffic: Traffic | None = None,
    limits: Mapping[str, Any] | None = None,
    effort: str | None = None,
) -> Outcome:
    """What the engine makes of a client that ended as `done` says."""
    program = tmp_path / "claude"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)
    monkeypatch.setenv("BENCH_CLAUDE", str(program))
    door = Door(tmp_path, traffic or Traffic(USAGE, ({"status": "ok"},), 0.25, 0.25))

    class Gateway:
        def open(self, ask: Ask) -> Door:
            return door

        def close(self) -> None:
            """Nothing was started."""

    def execute(argv: tuple[str, ...], *, watch: Any, **_given: Any) -> Finished:
        for start in range(0, len(done.stdout), 1000):
            watch("stdout", done.stdout[start : start + 1000])
        return done

    engine = Claude()
    engine.open(
        Work("Do it.", MODEL, effort, 0, limits or {"session_s": 60}),
        Room(execute, threading.Event(), lambda line: None, gateway=Gateway),
    )
    try:
        return engine.run()
    finally:
        engine.close()
        assert door.closed == 1


def ended(stdout: bytes, exit: int | None = 0, limit: str | None = None, stderr: bytes = b"") -> Finished:
    return Finished(exit, limit, stdout, stderr, b"", 1.0)

"""An agent gives a tool two keys that redaction makes the same, so that its transcript could not be kept as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.effects.engines.claude.played import ended, lines, played
from tests.effects.engines.claude.test_stream import INIT, RESULT


def test_its_session_is_unverified_and_nobody_elses_run_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meeting = {"sk-aaaaaaaaaaaaaaaaaaaa": 1, "sk-bbbbbbbbbbbbbbbbbbbb": 2}
    call = {"type": "tool_use", "id": "t", "name": "mcp__graph__callers", "input": meeting}
    asked = {"type": "assistant", "message": {"content": [call]}}
    found = played(tmp_path, monkeypatch, ended(lines(INIT, asked, RESULT)))
    assert (found.error_kind, found.error_class) == ("evidence-unverified", "transcript-unkept")
    kept = [json.loads(line) for line in found.transcript.splitlines()]
    assert [event["type"] for event in kept] == ["system", "assistant", "result"]
    assert kept[1] == {"type": "assistant", "unkept": True}
    assert b"sk-aaaa" not in found.transcript

"""An agent gives a tool two keys that redaction makes the same, so that its transcript could not be kept as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.effects.engines import Work
from bench.effects.gateway import Traffic
from tests.effects.engines.claude.played import USAGE, ended, lines, played
from tests.effects.engines.claude.test_stream import INIT, RESULT
from tests.effects.engines.modelserver import anthropic, ok, serve
from tests.effects.engines.test_loop import LIMITS, MODEL, play

MEETING = {"sk-aaaaaaaaaaaaaaaaaaaa": 1, "sk-bbbbbbbbbbbbbbbbbbbb": 2}


def test_its_session_is_unverified_and_nobody_elses_run_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = {"type": "tool_use", "id": "t", "name": "mcp__graph__callers", "input": MEETING}
    asked = {"type": "assistant", "message": {"content": [call]}}
    found = played(tmp_path, monkeypatch, ended(lines(INIT, asked, RESULT)))
    assert (found.error_kind, found.error_class) == ("evidence-unverified", "transcript-unkept")
    kept = [json.loads(line) for line in found.transcript.splitlines()]
    assert [event["type"] for event in kept] == ["system", "assistant", "result"]
    assert kept[1] == {"type": "assistant", "unkept": True}
    assert b"sk-aaaa" not in found.transcript


def test_a_live_session_is_measured_though_its_recording_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_ANTHROPIC_API_KEY", "key-for-this-test-0123")
    first = anthropic("Looking.", "true")
    first["content"][-1]["input"] |= MEETING
    spent: list[float] = []
    with serve(ok(first), ok(anthropic("Done."))) as server:
        params = {"base_url": server.url, "retries": 0}
        found = play(Work("Do it.", MODEL, None, 0, LIMITS, params=params), tmp_path, spent=spent)
    assert (found.error_kind, found.recording) == (None, None)
    assert found.spent_usd == pytest.approx(sum(spent))
    assert found.diagnostics == ("no recording is kept: two keys of one object are the same after redaction",)


def test_a_client_session_is_measured_though_its_recording_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "no recording is kept: two keys of one object are the same after redaction"
    told = Traffic(USAGE, ({"status": "ok"},), 0.25, 0.25, unrecorded=why)
    found = played(tmp_path, monkeypatch, ended(lines(INIT, RESULT)), told)
    assert found.error_kind is None
    assert why in found.diagnostics

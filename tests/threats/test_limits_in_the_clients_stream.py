"""SWE-bench_Pro-os 78, claude-code 15685, no-mistakes 407, gnhf PR 179: a limit of the service that looks like a result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.effects.gateway import Traffic
from tests.effects.engines.claude.played import USAGE, WHOLE, ended, lines, played, said
from tests.effects.engines.claude.test_stream import INIT, RESULT

WORDS = "Error 429: rate_limit_error. You've hit your limit, resets 3pm. usage limit reached|1900000000"
LIMIT = {"cls": "usage-limit", "status": 429, "resets_at": 1_900_000_000.0}
TRAFFIC = Traffic(USAGE, ({"status": "ok"}, {"status": "failed", "http_status": 429}), 0.25)
REJECTED = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1_900_000_000}}


def test_words_in_a_tools_result_are_no_outage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = played(tmp_path, monkeypatch, ended(lines(INIT, said(WORDS), RESULT | {"result": WORDS}), stderr=WORDS.encode()))
    assert (found.error_kind, found.outage) == (None, None)


def test_a_limit_with_exit_0_is_an_outage_and_its_reset_time_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = RESULT | {"result": "You've hit your limit"}
    found = played(tmp_path, monkeypatch, ended(lines(INIT, told)), replace(TRAFFIC, outage=LIMIT))
    assert (found.error_kind, found.error_class, found.outage) == ("session-error", "outage-usage-limit", LIMIT)
    assert found.usage == USAGE


def test_a_rejection_is_read_from_the_clients_own_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = RESULT | {"is_error": True, "subtype": "success"}
    found = played(tmp_path, monkeypatch, ended(lines(INIT, REJECTED, failed), exit=1))
    assert (found.error_class, found.outage) == ("outage-usage-limit", {"cls": "usage-limit", "resets_at": 1_900_000_000})
    without = REJECTED | {"rate_limit_info": {"status": "rejected"}}
    found = played(tmp_path, monkeypatch, ended(lines(INIT, without, failed), exit=1))
    assert found.outage == {"cls": "usage-limit"}


def test_a_limit_that_was_waited_out_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = played(tmp_path, monkeypatch, ended(lines(INIT, REJECTED, RESULT)), TRAFFIC)
    assert (found.error_kind, found.outage) == (None, None)


def test_exit_1_without_a_word_is_a_session_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = played(tmp_path, monkeypatch, ended(b"", exit=1))
    assert (found.error_kind, found.error_class, found.outage) == ("session-error", "no-result", None)
    assert "said nothing" in str(found.error_detail)


def test_a_whole_session_is_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert played(tmp_path, monkeypatch, ended(WHOLE)).error_kind is None

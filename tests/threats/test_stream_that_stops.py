"""claude-code 17248, 39700, 1920: the stream stops in the middle of a line, has no result, or its process never exits.

That a client which stays after its result is ended is tested on the relay (tests/effects/engines/claude/test_relay.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.effects.engines import UNKNOWN_COST
from bench.effects.engines.claude.stream import parse
from bench.effects.gateway import Traffic
from tests.effects.engines.claude.played import USAGE, WHOLE, ended, lines, played, said
from tests.effects.engines.claude.test_stream import INIT, RESULT

HALF = lines(INIT, said("one")) + b'{"type":"assistant","message":{"content":[{"type":"te'


@pytest.mark.parametrize(
    ("exit", "limit", "cls"),
    [(None, "time", "session-timeout"), (137, None, "stream-truncated"), (0, None, "stream-truncated")],
)
def test_complete_lines_are_kept_and_the_cost_is_at_least_what_was_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exit: int | None, limit: str | None, cls: str
) -> None:
    found = played(tmp_path, monkeypatch, ended(HALF, exit, limit))
    assert (found.error_kind, found.error_class) == ("session-error", cls)
    assert "cost at least $0.2500" in str(found.error_detail)
    assert (found.usage, found.spent_usd) == (USAGE, 0.25)
    assert len(parse(found.transcript).events) == 2
    assert "the output stops in the middle of a line" in found.diagnostics


def test_no_result_is_no_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = played(tmp_path, monkeypatch, ended(lines(INIT, said("one"))))
    assert (found.error_kind, found.error_class) == ("session-error", "stream-invalid")
    assert "there is no result" in str(found.error_detail)


def test_an_unknown_price_makes_the_cost_unknown_and_not_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = played(tmp_path, monkeypatch, ended(HALF), Traffic(USAGE, (), exact=False))
    assert "cost unknown" in str(found.error_detail)
    assert UNKNOWN_COST in found.diagnostics


def test_what_is_known_of_a_cost_is_booked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = played(tmp_path, monkeypatch, ended(HALF, None, "time"), Traffic(None, (), 0.25, exact=False))
    assert "cost at least $0.2500" in str(found.error_detail)
    assert (found.usage, found.spent_usd, found.spent_exact) == (None, 0.25, False)
    assert UNKNOWN_COST in found.diagnostics
    assert found.gateway is not None
    assert found.gateway["cost_usd"] is None


def test_more_than_can_be_kept_is_unverifiable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = played(tmp_path, monkeypatch, ended(HALF, None, "output"))
    assert (found.error_kind, found.error_class) == ("evidence-unverified", "transcript-limit")


def test_events_that_no_client_writes_are_not_repaired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for raw in (WHOLE + WHOLE, WHOLE + lines(said("late")), lines(INIT) + b"{\xff}\n" + lines(RESULT)):
        found = played(tmp_path, monkeypatch, ended(raw))
        assert (found.error_kind, found.error_class) == ("session-error", "stream-invalid")

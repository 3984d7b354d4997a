"""Issue 1: a dropped effort is unusable; what nobody knows is no proof of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.effects.engines.claude import effort
from bench.effects.gateway import Traffic
from tests.effects.engines.claude.played import USAGE, WHOLE, ended, played


def traffic(efforts: dict[str, int], *sent: str | None, **more: Any) -> Traffic:
    return Traffic(USAGE, tuple({"status": "ok", "effort": each} for each in sent), efforts=efforts, **more)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (traffic({"": 2}, None, None), "the client asked for no effort in any call, and not for high"),
        (traffic({"high": 2}, "high", ""), "without the effort high in 1 of 2 calls"),
        (traffic({"high": 1, "": 1}, "", ""), "without the effort high in 2 of 2 calls"),
        (traffic({"high": 1, "": 1}, "high", ""), None),
        (traffic({"high": 2}, None, None), None),
        (traffic({}, None), None),
        (traffic({"": 2}, "", "", replayed=True), None),
        (Traffic(USAGE, ({"status": "failed", "effort": ""},), efforts={"high": 1}), None),
    ],
)
def test_it_was_dropped_only_where_that_is_known(said: Traffic, words: str | None) -> None:
    found = effort.dropped("high", said)
    assert (found is None) == (words is None)
    assert words is None or (found and words in found)
    assert effort.dropped(None, said) is None


def test_another_effort_than_the_sessions_is_told() -> None:
    assert effort.notes("max", traffic({"max": 1}, "xhigh")) == ("effort max was sent to the provider as xhigh",)
    assert effort.notes("max", traffic({"max": 1}, "max")) == ()
    assert effort.notes(None, traffic({"": 1}, "high")) == ()
    [note] = effort.notes("max", traffic({"max": 1, "": 1}, None, None))
    assert note.startswith("effort max was not sent by the client with every call")


def test_a_session_whose_effort_was_dropped_is_no_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = traffic({"high": 1}, "")
    found = played(tmp_path, monkeypatch, ended(WHOLE), said, effort="high")
    assert (found.error_kind, found.error_class) == ("session-error", "effort-dropped")
    assert played(tmp_path, monkeypatch, ended(WHOLE), said).error_kind is None

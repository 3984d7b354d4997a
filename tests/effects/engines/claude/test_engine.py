"""The engine's own rules; sessions of the real client are in tests/steps/test_session_claude.py."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.effects.engines import Room, Work
from bench.effects.engines.claude.engine import Claude
from bench.effects.gateway import Traffic
from bench.effects.sandbox import Finished
from bench.errors import Cancelled, CorpusError, MissingPart
from tests.effects.engines.claude.played import USAGE, WHOLE, ended, played

WORK = Work("Do it.", "m", None, 0, {})


def execute(*_given: Any, **_more: Any) -> Finished:
    raise AssertionError("nothing is run before the session")


def room(**more: Any) -> Room:
    return Room(execute, threading.Event(), lambda line: None, **more)


@pytest.mark.parametrize(
    ("work", "error", "words"),
    [
        (replace(WORK, params={"temperature": 1}), CorpusError, "no setting 'temperature'"),
        (replace(WORK, model=None), CorpusError, "needs a model"),
        (replace(WORK, effort="minimal"), CorpusError, "low, medium, high, xhigh, max"),
        (WORK, MissingPart, "no model gateway"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_started(work: Work, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Claude().open(work, room())


def test_a_cancelled_session_opens_no_door() -> None:
    stopped = room(gateway=execute)
    stopped.cancel.set()
    with pytest.raises(Cancelled):
        Claude().open(WORK, stopped)


def test_the_gateways_count_is_the_sessions_and_the_clients_stands_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = ({"why": "route", "method": "GET", "path": "/model/info"},)
    told = Traffic(USAGE, ({"status": "ok", "started_at": 1.0, "completed_at": 2.0},), 0.5, 0.4, foreign=3, refused=refused)
    found = played(tmp_path, monkeypatch, ended(WHOLE), told)
    assert (found.usage, found.spent_usd, found.calls) == (USAGE, 0.5, ({"status": "ok"},))
    assert found.gateway is not None
    own = {"input_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3, "output_tokens": 4}
    assert (found.gateway["cli_usage"], found.gateway["cli_cost_usd"], found.gateway["cost_usd"]) == (own, 0.5, 0.4)
    assert found.gateway["apart"] == round(max(abs(USAGE[name] - own[name]) for name in own) / 110, 4)
    assert found.gateway["foreign_calls"] == 3
    assert found.gateway["refused"] == [{"why": "route"}]


def test_tokens_counted_as_another_kind_are_apart_though_the_sum_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = {"input_tokens": 4, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 0, "output_tokens": 4}
    found = played(tmp_path, monkeypatch, ended(WHOLE), Traffic(moved, (), 0.5, 0.4))
    assert found.gateway is not None
    assert found.gateway["apart"] == 0.3


def test_unknown_usage_stays_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = played(tmp_path, monkeypatch, ended(WHOLE), Traffic(None))
    assert found.usage is None
    assert found.gateway is not None
    assert found.gateway["apart"] is None

"""A proxy that dies while it starts, or never answers, was waited for in silence, or its log told the keys."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.effects.gateway.process import TAIL_BYTES, Proxy
from bench.errors import Cancelled, EnvironmentRefused


def leftovers(places: list[Path]) -> list[Path]:
    return [place for place in places if place.exists()]


def roots() -> set[Path]:
    return set(Path("/tmp").glob("gw-*"))


def test_an_early_end_is_reported_with_a_tail_that_tells_no_key(stand_in: Callable[[str], str]):
    said = (
        "print('x' * 5000, os.environ['ANTHROPIC_API_KEY'], os.environ['LITELLM_MASTER_KEY'], 'no such module', flush=True)"
    )
    program = stand_in(f"{said}\nsys.exit(3)")
    with pytest.raises(EnvironmentRefused) as refused:
        Proxy({"ANTHROPIC_API_KEY": "sk-ant-planted-000000"}, program=program)
    text = str(refused.value)
    assert "ended early (exit 3)" in text
    assert "no such module" in text
    assert "planted" not in text
    assert "[redacted] [redacted]" in text
    assert len(text.encode()) < TAIL_BYTES + 300
    assert refused.value.exit_code == 3


def test_one_that_never_answers_is_given_up(stand_in: Callable[[str], str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BENCH_GATEWAY_START_S", "0.5")
    with pytest.raises(EnvironmentRefused, match="did not answer within"):
        Proxy({}, program=stand_in("print('waiting', flush=True); time.sleep(600)"))


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "soon"])
def test_the_time_for_it_must_be_a_time(stand_in: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, text: str):
    monkeypatch.setenv("BENCH_GATEWAY_START_S", text)
    with pytest.raises(EnvironmentRefused, match="is no time"):
        Proxy({}, program=stand_in(""))


def test_waiting_ends_with_the_run(stand_in: Callable[[str], str]):
    ended = threading.Event()
    threading.Timer(0.5, ended.set).start()
    with pytest.raises(Cancelled):
        Proxy({}, ended, program=stand_in("time.sleep(600)"))

"""One proxy for all sessions, started late, gone with the gateway. What stands in for LiteLLM here only says it lives."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.effects import clock
from bench.effects.gateway import Door
from bench.effects.gateway.litellm_proxy import LiteLLMGateway
from bench.errors import Cancelled, EnvironmentRefused
from tests.effects.gateway.clients import call, message
from tests.effects.gateway.test_gateway import replay


def test_nothing_starts_before_a_session_asks(stand_in: Callable[[str], str]):
    made = LiteLLMGateway(stand_in(""))
    assert made.proxy is None
    made.close()
    made.close()
    with pytest.raises(Cancelled):
        made.open(replay())


def test_sessions_that_ask_at_once_get_one_proxy(stand_in: Callable[[str], str], tmp_path: Path):
    started = tmp_path / "started"
    made = LiteLLMGateway(stand_in(f"open({str(started)!r}, 'a').write('x'); time.sleep(0.5)"))
    doors: list[Door] = []
    tries = [threading.Thread(target=lambda n=n: doors.append(made.open(replay(f"s{n}")))) for n in range(8)]
    for one in tries:
        one.start()
    for one in tries:
        one.join()
    try:
        assert started.read_text() == "x"
        assert len({door.folder for door in doors}) == 8
        assert {door.folder.stat().st_mode & 0o777 for door in doors} == {0o700}
        assert all(len(str(door.folder / "model")) < 40 for door in doors)
    finally:
        made.close()
    assert not any(door.folder.parent.exists() for door in doors)
    assert doors[0].close().calls == ()


def test_a_proxy_that_died_is_replaced_for_the_next_session(stand_in: Callable[[str], str]):
    made = LiteLLMGateway(stand_in(""))
    try:
        first = made.open(replay())
        dead = made.proxy
        assert dead is not None
        os.killpg(dead.pid, signal.SIGKILL)
        deadline = clock.monotonic() + 10
        while dead.running and clock.monotonic() < deadline:
            clock.sleep(0.02)
        status, _body = call(first, message(first))
        second = made.open(replay())
        assert status == 502
        assert first.close().broken, "no word about the service"
        assert made.proxy is not dead
        assert second.folder.is_dir()
        told = first.close()
        assert [entry["status"] for entry in told.calls] == ["failed"]
        assert not dead.root.exists()
    finally:
        made.close()


def test_one_that_does_not_start_leaves_nothing_and_is_tried_again(stand_in: Callable[[str], str], tmp_path: Path):
    places = tmp_path / "places"
    made = LiteLLMGateway(stand_in(f"open({str(places)!r}, 'a').write(os.getcwd() + chr(10)); sys.exit(4)"))
    for _ in range(2):
        with pytest.raises(EnvironmentRefused, match="ended early"):
            made.open(replay())
    assert made.proxy is None
    made.close()
    homes = [Path(line) for line in places.read_text().splitlines()]
    assert len(set(homes)) == 2
    assert not any(home.parent.exists() for home in homes)


def test_closing_ends_a_start_that_is_waited_for(stand_in: Callable[[str], str]):
    made = LiteLLMGateway(stand_in("time.sleep(600)"))
    ended: list[str] = []

    def start() -> None:
        try:
            made.open(replay())
        except Cancelled as refused:
            ended.append(str(refused))

    waiting = threading.Thread(target=start)
    waiting.start()
    clock.sleep(0.5)
    made.close()
    waiting.join()
    assert len(ended) == 1

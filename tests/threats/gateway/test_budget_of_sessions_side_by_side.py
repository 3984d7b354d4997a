"""Each session had the whole of what its suite had left when it started: together they spent more than the budget."""

from __future__ import annotations

import contextlib
import http.client
import json

import pytest

from bench.effects.gateway import SOCKET, Gateway
from tests.effects.gateway.clients import Connection, Purse, call, message
from tests.effects.gateway.provider import Provider
from tests.effects.gateway.test_gateway import live
from tests.make.clients import wait

pytestmark = pytest.mark.slow


def test_what_one_spends_the_others_have_not(proxied: Gateway, provider: Provider):
    purse = Purse(0.0002)  # 0.000151 a call
    one, other = (proxied.open(live(provider, name, **purse.terms)) for name in ("one", "other"))
    assert [call(door, message(door))[0] for door in (one, other)] == [200, 200]
    assert wait(lambda: len(purse.spent) == 2, 10), "each tells of it by itself, when its line is there"
    assert [call(door, message(door))[0] for door in (one, other)] == [403, 403]
    told = [door.close() for door in (one, other)]
    assert sum(traffic.spent_usd for traffic in told) == pytest.approx(sum(purse.spent), abs=1e-6)


def test_a_stream_is_cut_when_another_session_has_spent_the_rest(proxied: Gateway, provider: Provider):
    purse = Purse(0.0001)
    one, other = (proxied.open(live(provider, name, **purse.terms)) for name in ("one", "other"))
    connection = Connection(str(one.folder / SOCKET))
    connection.request("POST", "/v1/messages", json.dumps(message(one, "slow", stream=True)), {"x-api-key": one.placeholder})
    response = connection.getresponse()
    got = response.read1(100_000)
    assert call(other, message(other))[0] == 200
    with contextlib.suppress(http.client.IncompleteRead, ConnectionResetError):
        while data := response.read1(100_000):
            got += data
    connection.close()
    assert b"message_start" in got
    assert b"message_stop" not in got
    assert call(one, message(one))[0] == 403
    assert [entry["status"] for entry in one.close().calls] == ["cut"]
    other.close()

"""SWE-bench_Pro-os 78, claude-code 15685, no-mistakes 407, gnhf PR 179: a limit passed for a result, because the client said
it in words and ended with 0; and the wait for it was a guess, or a retry that was charged."""

from __future__ import annotations

import pytest

from bench.core import outages
from bench.effects.gateway import Gateway
from tests.effects.gateway.clients import call, message
from tests.effects.gateway.provider import Provider
from tests.effects.gateway.test_gateway import live

NOW = 1_800_000_000.0


def event(**told: object) -> dict[str, object]:
    return {"type": "rate_limit_event", "rate_limit_info": told}


def test_the_event_says_it_and_its_reset_is_waited_for():
    found = outages.of_event(event(status="rejected", resetsAt=NOW + 5 * 3600, rateLimitType="five_hour"))
    assert found == outages.Outage("usage-limit", NOW + 5 * 3600)
    assert outages.pause(found, NOW) == 5 * 3600 + outages.MARGIN_S


def test_without_a_reset_the_wait_is_a_bounded_guess():
    found = outages.of_event(event(status="rejected"))
    assert found == outages.Outage("usage-limit", None)
    assert outages.pause(found, NOW) == outages.FALLBACK_S


def test_a_reset_of_next_month_does_not_stop_the_run_for_a_month():
    found = outages.of_event(event(status="rejected", resetsAt=NOW + 30 * 86400))
    assert found is not None
    assert outages.pause(found, NOW) == outages.LONGEST_S


def test_a_warning_is_none_and_neither_are_words():
    assert outages.of_event(event(status="allowed_warning", resetsAt=NOW)) is None
    assert (
        outages.of_event({"type": "assistant", "text": "You've hit your limit · resets 5pm, 429 rate_limit_error"}) is None
    )
    assert (
        outages.of_call({"http_status": 400, "error_type": "invalid_request_error", "message": "429 overloaded"}, NOW)
        is None
    )


@pytest.mark.slow
@pytest.mark.parametrize(("status", "cls"), [(429, "rate-limit"), (529, "overloaded"), (500, "server"), (401, "auth")])
def test_the_real_proxy_tells_status_and_reset(proxied: Gateway, provider: Provider, status: int, cls: str):
    door = proxied.open(live(provider))
    before = len(provider.asked)
    got, body = call(door, message(door, f"status {status}"))
    traffic = door.close()
    assert len(provider.asked) == before + 1  # nobody but the client tries again
    assert got == (403 if status == 401 else status)
    assert b"Traceback" not in body
    assert traffic.outage is not None
    assert (traffic.outage["cls"], traffic.outage["status"]) == (cls, status)
    assert (traffic.outage.get("resets_at") is not None) == (status in (429, 529))
    assert [entry["http_status"] for entry in traffic.calls] == [status]


@pytest.mark.slow
def test_a_provider_that_is_not_there_is_a_network_outage(proxied: Gateway):
    door = proxied.open(live(_Nobody()))
    got, _body = call(door, message(door))
    traffic = door.close()
    assert got >= 500
    assert traffic.outage is not None
    assert traffic.outage["cls"] == "network"


@pytest.mark.slow
def test_a_limit_that_came_right_is_no_outage(proxied: Gateway, provider: Provider):
    door = proxied.open(live(provider))
    assert call(door, message(door, "status 429"))[0] == 429
    assert call(door, message(door))[0] == 200
    traffic = door.close()
    assert traffic.outage is None
    assert [entry["status"] for entry in traffic.calls] == ["failed", "ok"]


class _Nobody(Provider):
    address = "http://127.0.0.1:9"

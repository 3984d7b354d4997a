from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bench.effects.engines.claude.stream import Stream
from bench.effects.engines.claude.verdict import End, Told, judge
from tests.effects.engines.claude.test_stream import INIT, RESULT

FINE = End(0, None, 60.0)
WHOLE = Stream((INIT, RESULT), RESULT)
NONE = Stream((INIT,), None, ("there is no result",))


def cls(stream: Stream, end: End = FINE, outage: Any = None, mismatch: str | None = None) -> str | None:
    return judge(stream, end, Told(0.25, outage, mismatch))[1]


def result(**more: Any) -> Stream:
    changed = RESULT | more
    return Stream((INIT, changed), changed)


def test_a_whole_stream_and_a_clean_end_are_fine() -> None:
    assert judge(WHOLE, FINE, Told()) == (None, None, None)


@pytest.mark.parametrize(
    ("stream", "end", "expected"),
    [
        (WHOLE, replace(FINE, limit="cancelled"), "cancelled"),
        (NONE, replace(FINE, limit="time", exit=None), "session-timeout"),
        (NONE, replace(FINE, limit="output", exit=None), "transcript-limit"),
        (NONE, replace(FINE, limit="memory", exit=None), "sandbox-memory"),
        (NONE, replace(FINE, exit=None, stopped="token"), "token-limit"),
        (result(subtype="error_max_turns", is_error=True), replace(FINE, exit=1), "turn-limit"),
        (result(is_error=True), replace(FINE, exit=1), "client-error"),
        (result(subtype="error_during_execution"), FINE, "client-error"),
        (result(is_error=None), FINE, "client-error"),
        (result(subtype=None), FINE, "client-error"),
        (WHOLE, replace(FINE, exit=1), "client-exit"),
        (result(usage={}), FINE, "usage-incomplete"),
        (NONE, replace(FINE, exit=1), "no-result"),
        (NONE, FINE, "stream-invalid"),
        (replace(NONE, truncated=True), replace(FINE, exit=137), "stream-truncated"),
    ],
)
def test_each_end_has_a_class(stream: Stream, end: End, expected: str) -> None:
    assert cls(stream, end) == expected


def test_a_cut_session_costs_at_least_what_was_counted() -> None:
    cut = replace(NONE, truncated=True)
    assert "cost at least $0.2500" in str(judge(cut, FINE, Told(0.25))[2])
    assert "cost unknown" in str(judge(cut, FINE, Told())[2])


def test_a_client_that_waits_out_its_time_for_a_service_that_refuses_it_met_an_outage() -> None:
    late = replace(FINE, limit="time", exit=None)
    assert cls(NONE, late, {"cls": "rate-limit", "status": 429, "resets_at": 1.0}) == "outage-rate-limit"
    assert cls(NONE, replace(late, stopped="token"), {"cls": "rate-limit"}) == "token-limit"
    assert cls(NONE, replace(late, limit="output"), {"cls": "rate-limit"}) == "transcript-limit"


def test_the_output_limit_is_unverified_evidence() -> None:
    assert judge(NONE, replace(FINE, limit="output"), Told())[0] == "evidence-unverified"


def test_a_cassette_that_does_not_match_comes_before_what_it_caused() -> None:
    assert cls(result(is_error=True), replace(FINE, exit=1), None, "turn 2 field messages") == "cassette-mismatch"


def test_a_client_that_dies_without_a_word_says_so() -> None:
    assert "said nothing" in str(judge(Stream((), None, ("there is no event",)), End(1, None, 60.0), Told(0.0))[2])


REFUSED = Stream((), RESULT | {"is_error": True, "api_error_status": 403})


def test_what_the_door_refuses_is_no_outage_of_the_service() -> None:
    ended = replace(FINE, exit=1)
    assert judge(REFUSED, ended, Told(1.0, refused=("budget",)))[1] == "budget-limit"
    assert judge(REFUSED, ended, Told(1.0, refused=("another model",)))[1] == "call-refused"
    assert judge(REFUSED, ended, Told(1.0))[1] == "outage-auth"
    assert judge(WHOLE, FINE, Told(1.0, refused=("another model",))) == (None, None, None)


def test_a_gateway_that_broke_down_is_our_error_and_no_outage_of_the_service() -> None:
    dead = Stream((), RESULT | {"is_error": True, "api_error_status": 502})
    assert judge(dead, replace(FINE, exit=1), Told(1.0))[1] == "outage-server"
    assert judge(dead, replace(FINE, exit=1), Told(1.0, broken=True))[:2] == ("infra-error", "gateway")
    assert judge(NONE, replace(FINE, limit="time", exit=None), Told(1.0, broken=True))[1] == "gateway", (
        "it was tried till then"
    )
    assert judge(WHOLE, FINE, Told(1.0, broken=True)) == (None, None, None), "what it had was enough"

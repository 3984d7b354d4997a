"""Outages from structured fields, and how long they are waited for."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import outages
from bench.core.outages import Outage

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("call", "cls"),
    [
        ({"http_status": 429, "error_type": "rate_limit_error"}, "rate-limit"),
        ({"http_status": 429, "error_type": "insufficient_quota"}, "usage-limit"),
        ({"http_status": 429, "error_type": None}, "rate-limit"),
        ({"http_status": 529}, "overloaded"),
        ({"http_status": 500, "error_type": "overloaded_error", "answered": True}, "overloaded"),
        ({"http_status": 401}, "auth"),
        ({"http_status": 403, "error_type": "permission_error"}, "auth"),
        ({"http_status": 402}, "usage-limit"),
        ({"http_status": 400, "error_type": "billing_error"}, "usage-limit"),
        ({"http_status": 503, "answered": True}, "server"),
        ({"http_status": 500, "answered": False, "error_class": "InternalServerError"}, "network"),
        ({"http_status": None, "error_class": "Timeout"}, "network"),
        ({"http_status": 408}, "network"),
        ({"http_status": 400, "error_type": "invalid_request_error"}, None),
        ({"http_status": 404}, None),
        ({"http_status": 413}, None),
        ({}, None),
    ],
)
def test_classes(call: dict[str, object], cls: str | None):
    found = outages.of_call(call, NOW)
    assert (found.cls if found else None) == cls
    assert cls is None or cls in outages.CLASSES


@pytest.mark.parametrize(
    ("headers", "at"),
    [
        ({"retry-after": "77"}, NOW + 77),
        ({"Retry-After": "0.5"}, NOW + 0.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"anthropic-ratelimit-requests-reset": "2027-01-15T08:10:00Z"}, 1_800_000_600.0),
        (
            {
                "anthropic-ratelimit-tokens-reset": "2027-01-15T09:00:00Z",
                "anthropic-ratelimit-tokens-remaining": "5000",
                "anthropic-ratelimit-requests-reset": "2027-01-15T08:10:00Z",
                "anthropic-ratelimit-requests-remaining": "0",
            },
            1_800_000_600.0,
        ),
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "0"}, NOW + 360),
        ({"x-ratelimit-reset-tokens": "120ms"}, NOW + 0.12),
        ({"x-ratelimit-reset-tokens": "1800000900"}, 1_800_000_900.0),
        ({"x-ratelimit-reset-tokens": "x1s"}, None),
        ({}, None),
    ],
)
def test_resets(headers: dict[str, str], at: float | None):
    found = outages.of_call({"http_status": 429, "headers": headers}, NOW)
    assert found is not None
    assert found.resets_at == (None if at is None else pytest.approx(at, abs=0.001))


def test_a_reset_says_nothing_of_a_wrong_key():
    assert outages.of_call({"http_status": 401, "headers": {"retry-after": "77"}}, NOW) == Outage("auth", None, 401)


@pytest.mark.parametrize("at", [True, "1800000000", None, float("nan"), -1, 0, 10**400])
def test_a_reset_that_is_no_time_is_none(at: object):
    event = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": at}}
    assert outages.of_event(event) == Outage("usage-limit", None)


def test_milliseconds_are_understood():
    event = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": NOW * 1000}}
    assert outages.of_event(event) == Outage("usage-limit", NOW)


@pytest.mark.parametrize("event", [{}, {"type": "rate_limit_event"}, {"type": "rate_limit_event", "rate_limit_info": 3}])
def test_an_odd_event_is_none(event: dict[str, object]):
    assert outages.of_event(event) is None


def test_pauses_are_bounded_and_have_a_margin():
    assert outages.pause(Outage("rate-limit", NOW + 60), NOW) == 60 + outages.MARGIN_S
    assert outages.pause(Outage("rate-limit", NOW - 60), NOW) == outages.MARGIN_S
    assert outages.pause(Outage("rate-limit", NOW + 1e9), NOW) == outages.LONGEST_S
    assert outages.pause(Outage("rate-limit"), NOW) == outages.FALLBACK_S


@given(st.integers(0, 13_000_000_000), st.integers(-840, 840))
def test_stamps_are_those_of_datetime(seconds: int, minutes: int):
    zone = datetime.timezone(datetime.timedelta(minutes=minutes))
    assert outages.stamp(datetime.datetime.fromtimestamp(seconds, zone).isoformat()) == seconds


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2027-01-15T08:10:00Z", 1_800_000_600),
        ("2027-01-15t08:10:00z", 1_800_000_600),
        (" 2027-01-15 08:10:00.000000000+00:00 ", 1_800_000_600),
        ("2027-01-15T13:40:00+0530", 1_800_000_600),
        ("2027-02-31T00:00:00Z", None),
        ("2027-13-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+14:00", -62_135_647_200),
        ("2027-01-15T08:10:00", None),
        ("2027-01-15", None),
    ],
)
def test_moments_that_a_service_may_name(text: str, at: float | None):
    assert outages.stamp(text) == at


@given(st.text(max_size=40))
def test_any_text_is_a_moment_or_none(text: str):
    found = outages.resets({"anthropic-ratelimit-x-reset": text, "retry-after": text}, NOW)
    assert found is None or isinstance(found, float)

"""Events out of a byte stream, and errors in words that tell nothing of this machine."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.effects.gateway import forward
from bench.effects.redact import Redactor

EVENTS = [{"type": "a", "text": "ü\nb"}, {"type": "b", "list": [1, 2]}, {"type": "c"}]
STREAM = (
    b": comment\n\n"
    + b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in EVENTS)
    + b"data: [DONE]\n\n"
)


@given(st.lists(st.integers(1, len(STREAM)), max_size=12), st.booleans())
def test_events_are_whole_however_they_arrive(cuts: list[int], returns: bool):
    data = STREAM.replace(b"\n", b"\r\n") if returns else STREAM
    places = sorted(set(cuts))
    parts = iter([data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True) if a != b])
    found = list(forward.frames(lambda _size: next(parts, b"")))
    assert [event for frame in found if (event := forward.event_of(frame)) is not None] == EVENTS
    assert b"".join(found) == STREAM


def test_an_unfinished_event_is_passed_on_too():
    parts = iter([b"data: {", b""])
    assert list(forward.frames(lambda _size: next(parts))) == [b"data: {"]


@given(st.binary(max_size=80))
def test_any_bytes_are_an_event_or_none(frame: bytes):
    assert forward.event_of(frame) is None or isinstance(forward.event_of(frame), dict)


QUOTED = json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})


@pytest.mark.parametrize(
    ("status", "body", "made"),
    [
        (
            400,
            {"error": {"type": "invalid_request_error", "message": "litellm.X: no"}},
            (400, "invalid_request_error", "litellm.X: no"),
        ),
        (500, {"error": {"message": f"litellm.Y: {QUOTED}\n\nLiteLLM: more"}}, (529, "overloaded_error", "Overloaded")),
        (401, {"error": {"type": "auth_error", "message": "no"}}, (403, "permission_error", "no")),
        (500, {"error": {"message": "boom\nTraceback (most recent call last)\n  /opt/x.py"}}, (500, "api_error", "boom")),
        (502, b"<html>", (502, "api_error", "no reason was given")),
        (429, {"error": "text"}, (429, "rate_limit_error", "no reason was given")),
    ],
)
def test_errors_are_reworded(status: int, body: object, made: tuple[int, str, str]):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    found = forward.Forwarder(1, "k", Redactor()).error(status, data)
    error = json.loads(found.body)["error"]
    assert (found.status, error["type"], error["message"]) == made


def test_secrets_and_paths_are_hidden_and_the_length_bounded():
    redactor = Redactor(["planted-secret"], {"/home/somebody": "<home>"})
    data = json.dumps({"error": {"message": "at /home/somebody/x with planted-secret " + "y" * 5000}}).encode()
    text = json.loads(forward.Forwarder(1, "k", redactor).error(500, data).body)["error"]["message"]
    assert text.startswith("at <home>/x with [redacted] y")
    assert len(text) == forward.MOST_ERROR

"""Recordings of live sessions, and one cassette made of many."""

from __future__ import annotations

from typing import Any

import pytest

from bench.effects import cassette_record, cassettes
from bench.effects.cassettes import Player, Request
from bench.effects.redact import Redactor
from bench.errors import CorpusError

BODY: dict[str, Any] = {"object": "chat.completion", "id": "c", "choices": [{"message": {"content": "hi"}}]}


def recording(prompt: str = "p", model: str = "openai/m", run: int = 0, raw: Any = BODY, **skills: str) -> bytes:
    made = recorded(prompt, model, run, raw, **skills).data
    assert made is not None
    return made


def recorded(
    prompt: str = "p", model: str = "openai/m", run: int = 0, raw: Any = BODY, **skills: str
) -> cassette_record.Recording:
    tape = cassette_record.Recorder(cassette_record.Recorded(model, None, skills, run))
    tape.add([{"role": "user", "content": prompt}], raw, BODY)
    return tape.cassette(Redactor(["planted-secret"]))


def test_nothing_answered_is_nothing_recorded() -> None:
    tape = cassette_record.Recorder(cassette_record.Recorded("m", None, {}, 0))
    assert tape.cassette(Redactor()) == (None, None)


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"sk-aaaaaaaaaaaaaaaaaaaa": 1, "sk-bbbbbbbbbbbbbbbbbbbb": 2}, "the same after redaction"),
        ({"n": float("nan")}, "ValueError"),
        ({"n": nested(900)}, "RecursionError"),
        ({"n": "x" * cassettes.MAX_BYTES}, "it would hold 6"),
    ],
)
def test_an_answer_that_cannot_be_kept_costs_the_recording_and_says_why(given: Any, why: str) -> None:
    block = {"type": "tool_use", "id": "t", "name": "bash", "input": given}
    made = recorded(raw={"type": "message", "content": [block], "usage": {}})
    assert made.data is None
    assert str(made.fault).startswith("no recording is kept: ")
    assert why in str(made.fault)


def test_an_upstream_of_another_form_is_kept_as_a_completion() -> None:
    tape = cassettes.parse(recording(raw={"candidates": []}), "x")
    assert tape.format == "openai"
    assert tape.conversations[0]["turns"][0]["response"] == [BODY]


def test_secrets_are_stripped_and_lone_surrogates_kept() -> None:
    said = BODY | {"choices": [{"message": {"content": "a planted-secret \ud800"}}]}
    data = recording(prompt="with planted-secret", raw=said)
    assert b"planted" not in data
    turn = cassettes.parse(data, "x").conversations[0]["turns"][0]
    assert turn["response"][0]["choices"][0]["message"]["content"] == "a [redacted] \ud800"


def test_many_recordings_make_one_cassette() -> None:
    parts = [recording("p"), recording("p", run=1), recording("q", s="text"), recording("p")]
    tape = cassettes.parse(cassette_record.merge(parts), "x")
    assert [(c["take"], c["skills"]) for c in tape.conversations] == [(0, []), (1, []), (0, ["s"])]
    played = Player(tape, skills={"s": "text"}, run=5).answer(Request("openai/m", "q"))
    assert played == [BODY]


@pytest.mark.parametrize("others", [[], [recording(model="openai/n")]])
def test_recordings_of_two_models_or_of_none_are_refused(others: list[bytes]) -> None:
    with pytest.raises(CorpusError, match="one model"):
        cassette_record.merge([*([recording()] if others else []), *others])

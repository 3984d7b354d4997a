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
    tape = cassette_record.Recorder(model, None, skills, run)
    tape.add([{"role": "user", "content": prompt}], raw, BODY)
    made = tape.cassette(Redactor(["planted-secret"]))
    assert made is not None
    return made


def test_nothing_answered_is_nothing_recorded() -> None:
    assert cassette_record.Recorder("m", None, {}, 0).cassette(Redactor()) is None


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

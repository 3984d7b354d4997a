"""Matching a conversation to a cassette: structure decides, text never, and every refusal says what differs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.effects import cassette_requests, cassettes
from bench.effects.cassette_author import authored
from bench.effects.cassettes import Mismatch, Player, Request, Result
from bench.errors import CorpusError

MODEL = "anthropic/claude-sonnet-4-5"
USAGE = {"input_tokens": 1, "output_tokens": 1}


def turn(text: str, *commands: Any, **more: Any) -> dict[str, Any]:
    return {"text": text, "commands": list(commands), "usage": USAGE} | more


def final(text: str = "Done.") -> dict[str, Any]:
    return {"text": text, "usage": USAGE}


def player(*conversations: dict[str, Any], format: str = "anthropic", **more: Any) -> Player:
    tape = cassettes.parse(authored(MODEL, format, conversations), "test")
    return Player(tape, **({"skills": {}, "run": 0} | more))


def said(found: Any) -> str:
    assert not isinstance(found, Mismatch), str(found)
    return json.dumps(found)


def request(*turns: list[tuple[str, bool, str]], prompt: str = "p", model: str = MODEL) -> Request:
    """`turns` hold (live id, error, text) per result."""
    calls = tuple(tuple(r[0] for r in results) for results in turns)
    return Request(model, prompt, calls, tuple(tuple(Result(*r) for r in results) for results in turns))


TWO = {"prompt": "p", "turns": [turn("first", "a", "b"), turn("second", {"run": "c", "fails": True})], "final": final()}


@pytest.mark.parametrize("format", cassettes.FORMATS)
def test_turns_are_found_by_number_with_ids_mapped(format: str) -> None:
    played = player(TWO, format=format)
    assert "first" in said(played.answer(request()))
    assert "second" in said(played.answer(request([("x", False, ""), ("y", False, "")])))
    assert "Done." in said(played.answer(request([("x", False, ""), ("y", False, "")], [("z", True, "no")])))
    # In any order and again: a player has no position.
    assert "first" in said(played.answer(request()))
    assert played.mismatch is None


def test_results_are_a_set() -> None:
    asked = Request(MODEL, "p", (("x", "y"),), ((Result("y", False, ""), Result("x", False, "")),))
    assert "second" in said(player(TWO).answer(asked))


@pytest.mark.parametrize(
    ("asked", "field", "number"),
    [
        (request(prompt="q"), "prompt", 0),
        (request(model="other"), "model", 0),
        (request([("x", False, "")]), "calls", 1),
        (request([("x", True, ""), ("y", False, "")]), "results", 1),
        (Request(MODEL, "p", (("x", "y"),), ((Result("x", False, ""),),)), "results", 1),
        (Request(MODEL, "p", (("x", "y"),), ((Result("x", False, ""), Result("stray", False, "")),)), "results", 1),
        (request([("x", False, ""), ("y", False, "")], [("z", True, "")], []), "turn", 3),
    ],
)
def test_a_mismatch_names_conversation_turn_and_field(asked: Request, field: str, number: int) -> None:
    played = player(TWO)
    found = played.answer(asked)
    assert isinstance(found, Mismatch)
    assert (found.field, found.turn) == (field, number)
    assert repr(asked.prompt) in found.conversation
    assert f"turn {number}, field {field}" in str(found)
    assert played.mismatch == found


def test_the_first_mismatch_is_kept() -> None:
    played = player(TWO)
    first = played.answer(request(prompt="q"))
    played.answer(request(model="other"))
    assert played.mismatch == first


def test_the_prompt_is_normalised_and_nothing_else_of_it_matters() -> None:
    played = player({"prompt": "Fix  it.\r\nPlease. \n", "turns": [], "final": final()})
    said(played.answer(request(prompt="<system-reminder>date: today</system-reminder>Fix  it.\nPlease.")))
    assert isinstance(played.answer(request(prompt="Fix it.\nPlease.")), Mismatch)


def test_skills_offered_tell_arms_apart() -> None:
    with_skill = {"prompt": "p", "skills": ["b", "a"], "turns": [], "final": final("with")}
    without = {"prompt": "p", "turns": [], "final": final("without")}
    assert "with" in said(player(with_skill, without, skills={"a": "", "b": ""}).answer(request()))
    assert "without" in said(player(with_skill, without).answer(request()))
    found = player(with_skill, without, skills={"c": ""}).answer(request())
    assert isinstance(found, Mismatch)
    assert (found.field, found.asked) == ("skills", "['c']")


def test_a_run_plays_its_take() -> None:
    takes = [{"prompt": "p", "take": n, "turns": [], "final": final(f"take {n}")} for n in (4, 0, 7)]
    for run, take in enumerate((0, 4, 7, 0, 4)):
        assert f"take {take}" in said(player(*takes, run=run).answer(request()))


def test_another_effort_is_not_the_recorded_one() -> None:
    found = player(TWO, effort="high").answer(request())
    assert isinstance(found, Mismatch)
    assert found.field == "effort"


def bodies(**more: Any) -> list[dict[str, Any]]:
    """Two conversations that differ in the body of one skill alone."""
    common = {"prompt": "p", "skills": ["s"]}
    return [
        common
        | {"turns": [turn("read", "cat"), turn(f"{name} way", "go", sees=f"{name} body\n")], "final": final(name)}
        | ({"offer": {"s": f"{name} body"}} if more.get("offer") else {})
        for name in ("old", "new")
    ]


def test_what_was_seen_tells_two_bodies_of_a_skill_apart() -> None:
    for name in ("old", "new"):
        played = player(*bodies(), skills={"s": ""})
        assert "read" in said(played.answer(request()))
        assert f"{name} way" in said(played.answer(request([("x", False, f"{name} body")])))
        assert f'"{name}"' in said(played.answer(request([("x", False, f"{name} body")], [("y", False, "any")])))


def test_the_skills_texts_tell_them_apart_from_the_start() -> None:
    for name in ("old", "new"):
        played = player(*bodies(offer=True), skills={"s": f"{name} body\n"})
        assert f"{name} way" in said(played.answer(request([("x", False, "something else")])))


def test_where_nothing_tells_them_apart_there_is_no_silent_choice() -> None:
    found = player(*bodies(), skills={"s": ""}).answer(request([("x", False, "a third body")]))
    assert isinstance(found, Mismatch)
    assert (found.field, found.turn) == ("seen", 1)


def test_an_edited_skill_alone_refuses_nothing() -> None:
    only = player(bodies(offer=True)[0], skills={"s": "edited body"})
    assert "old way" in said(only.answer(request([("x", False, "edited body")])))


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "top level"),
        (b"{}", "schema"),
        (b'{"schema": 2}', "cassette schema 2"),
        (authored(MODEL, "openai", [TWO]).replace(b'"take":0', b'"take":-1'), "conversations/0/take"),
        (authored(MODEL, "openai", [TWO]).replace(b'"take":0', b'"take":0,"odd":1'), "conversations/0"),
    ],
)
def test_a_damaged_cassette_is_refused_by_name(data: bytes, named: str) -> None:
    with pytest.raises(CorpusError, match=named) as raised:
        cassettes.parse(data, "corpus/cassettes/x.json")
    assert "corpus/cassettes/x.json" in str(raised.value)


@settings(deadline=None)
@given(st.text())
def test_any_prompt_has_a_digest_that_normalising_keeps(text: str) -> None:
    assert cassettes.prompt_digest(text) == cassettes.prompt_digest(cassettes.normalised(text))


def test_lone_surrogates_have_a_digest() -> None:
    assert cassettes.prompt_digest("a\ud800b") == cassettes.prompt_digest("a\ufffdb")


def test_digests_are_pinned() -> None:
    assert cassettes.prompt_digest("Fix it.") == "b3:b3c0bbc56b7a8ec8a9181e0016b66be5b76a0f47278dbc34569fb60db6313985"
    assert cassettes.seen_digest(["a", "b"]) == "b3:e0926066d97a58c7eeda198e4621db4991022dbe9e5c1b36a4f8b08e5a338a42"
    assert cassettes.offer_digest({"s": "t"}) == "b3:f813d3f1c30aa6d5d13d6bd125b6db3fca69e637c1de4cc7e5a94ffc992cec81"


GOLDEN = Path(__file__).parents[1] / "golden" / "cassette-1.json"


def test_a_cassette_of_version_1_is_read_and_played() -> None:
    tape = cassettes.parse(GOLDEN.read_bytes(), "cassette-1.json")
    assert (tape.model, tape.effort, tape.format, len(tape.conversations)) == (MODEL, None, "anthropic", 2)
    turns: list[list[tuple[str, bool, str]]] = [[("x", False, "Be careful."), ("y", True, "")], [("z", False, "")]]
    for run in (0, 1, 2):
        played = Player(tape, skills={"careful": "Be careful."}, run=run)
        asked = [request(*turns[:n], prompt="Fix the parser.") for n in range(3)]
        first, second, last = (said(played.answer(a)) for a in asked)
        assert "I read it." in first
        assert "Again." in second
        assert f"take {run % 2}" in last


TEXTS = st.none() | st.text(max_size=5) | st.lists(st.dictionaries(st.sampled_from(["type", "text"]), st.text(max_size=4)))
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "tool"]), "content": TEXTS},
        optional={
            "tool_calls": st.none() | st.lists(st.fixed_dictionaries({"id": st.text(max_size=2)})),
            "tool_call_id": st.text(max_size=2),
        },
    ),
    max_size=6,
)


@settings(deadline=None)
@given(MESSAGES)
def test_no_conversation_breaks_a_replay(messages: list[dict[str, Any]]) -> None:
    for read in (cassette_requests.from_openai, cassette_requests.from_anthropic):
        found = player(TWO).answer(read(MODEL, messages))
        assert isinstance(found, Mismatch | list)

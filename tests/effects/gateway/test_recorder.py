"""A live session's traffic as a cassette."""

from __future__ import annotations

from typing import Any

from bench.effects import cassettes
from bench.effects.cassette_record import Recorded
from bench.effects.cassette_requests import from_anthropic
from bench.effects.gateway.recorder import Tape
from bench.effects.redact import Redactor

MODEL = "anthropic/claude-sonnet-4-5"
CALL = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": "ls"}}
FIRST = [{"type": "message", "content": [CALL], "usage": {"input_tokens": 1, "output_tokens": 1}}]
SECOND = [{"type": "message_start", "message": {"id": "m"}}, {"type": "message_stop"}]
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "do it with sk-abcdefghijklmnopqrst"},
    {"role": "assistant", "content": [CALL]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "no", "is_error": True}]},
]


def body(count: int, **more: Any) -> dict[str, Any]:
    return {"messages": MESSAGES[:count], "tools": [{"name": "bash"}]} | more


def test_it_plays_again():
    tape = Tape(Recorded(MODEL, "high", {"fix": "text"}, 2))
    tape.add(body(3), SECOND)  # answers may end in any order
    tape.add(body(1), FIRST)
    data = tape.cassette(Redactor()).data
    assert data is not None
    assert b"sk-abcdefghijklmnopqrst" not in data
    parsed = cassettes.parse(data, "tape")
    player = cassettes.Player(parsed, skills={"fix": "text"}, run=2, effort="high")
    assert player.answer(from_anthropic(MODEL, MESSAGES[:1])) == FIRST
    assert player.answer(from_anthropic(MODEL, MESSAGES)) == SECOND


def test_a_retried_turn_is_kept_once_and_a_torn_one_not_at_all():
    tape = Tape(Recorded(MODEL, None, {}, 0))
    tape.add(body(1), SECOND)
    tape.add(body(1), FIRST)
    tape.add(body(3), SECOND[:1])
    data = tape.cassette(Redactor()).data
    assert data is not None
    (kept,) = cassettes.parse(data, "tape").conversations
    assert [turn["response"] for turn in kept["turns"]] == [FIRST]


def test_a_conversation_whose_beginning_is_missing_is_left_out():
    tape = Tape(Recorded(MODEL, None, {}, 0))
    tape.add(body(3), SECOND)
    tape.add(body(1, tools=[]), FIRST)
    tape.add(body(1), [])
    assert tape.cassette(Redactor()) == (None, None)


def test_keys_that_become_the_same_cost_the_recording_alone():
    tape = Tape(Recorded(MODEL, None, {}, 0))
    given = {"sk-aaaaaaaaaaaaaaaaaaaa": 1, "sk-bbbbbbbbbbbbbbbbbbbb": 2}
    tape.add(body(1), [{"type": "message", "content": [CALL | {"input": given}], "usage": {}}])
    made = tape.cassette(Redactor())
    assert made.data is None
    assert made.fault == "no recording is kept: two keys of one object are the same after redaction"


def conversation(name: str) -> tuple[list[dict[str, Any]], dict[str, Any], list[dict[str, Any]]]:
    """Two requests of one, with a call of this id between them, and the two answers."""
    called = CALL | {"id": name}
    first = {"type": "message", "content": [called], "usage": {"input_tokens": 1, "output_tokens": 1}}
    result = {"type": "tool_result", "tool_use_id": name, "content": f"of {name}"}
    return [MESSAGES[0], {"role": "assistant", "content": [called]}, {"role": "user", "content": [result]}], first, SECOND


def test_two_subagents_with_one_prompt_are_not_mixed_into_one_conversation():
    tape = Tape(Recorded(MODEL, None, {}, 0))
    for name in ("toolu_a", "toolu_b"):
        messages, first, second = conversation(name)
        tape.add({"messages": messages[:1], "tools": [{}]}, [first])
        tape.add({"messages": messages, "tools": [{}]}, second)
    made = tape.cassette(Redactor())
    assert made.data is None
    assert made.fault is not None
    assert "several conversations begin with 'do it with" in made.fault
    assert "sk-abcdefghijklmnopqrst" not in made.fault


def test_of_an_answer_that_came_twice_the_one_that_was_gone_on_with_is_kept():
    tape = Tape(Recorded(MODEL, None, {}, 0))
    messages, first, second = conversation("toolu_a")
    tape.add({"messages": messages[:1], "tools": [{}]}, [first])
    tape.add({"messages": messages[:1], "tools": [{}]}, [conversation("toolu_b")[1]])
    tape.add({"messages": messages, "tools": [{}]}, second)
    data = tape.cassette(Redactor()).data
    assert data is not None
    (kept,) = cassettes.parse(data, "tape").conversations
    assert [turn["response"] for turn in kept["turns"]] == [[first], second]

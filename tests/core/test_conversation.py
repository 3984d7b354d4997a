"""Transcripts as turns: both forms of events, anything else shown, nothing makes it fail (public report 14)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import conversation

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "role", "message", "content", "text"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def turns(*events: Any) -> list[dict[str, Any]]:
    return conversation.turns(b"".join(json.dumps(event).encode() + b"\n" for event in events))


def test_stream_events() -> None:
    call = {"type": "tool_use", "id": "1", "name": "bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "a\nb"}], "is_error": True}
    found = turns(
        {"type": "system", "subtype": "init"},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}, call]}},
        {"type": "user", "message": {"role": "user", "content": [result]}},
        {"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "hm"}]}},
        {"type": "result", "subtype": "success"},
    )
    assert [(turn["who"], turn["number"]) for turn in found] == [
        ("system", None),
        ("assistant", 1),
        ("tool", None),
        ("assistant", 2),
        ("event", None),
    ]
    assert [(part["kind"], part["name"], part["text"]) for part in found[1]["parts"]] == [
        ("text", None, "hi"),
        ("call", "bash", "ls"),
    ]
    assert found[2]["parts"][0] | {"cut": 0} == {"kind": "result", "name": None, "text": "a\nb", "error": True, "cut": 0}
    assert found[4]["parts"][0]["name"] == "result success"


def test_chat_messages() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls", "seconds": 3}'}}
    found = turns(
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "out"},
        {"role": "user", "content": "go on"},
    )
    assert [turn["who"] for turn in found] == ["assistant", "tool", "user"]
    assert json.loads(found[0]["parts"][0]["text"]) == {"command": "ls", "seconds": 3}
    assert found[1]["parts"][0]["kind"] == "result"


@pytest.mark.parametrize("line", [b"{torn", b"[1, 2]", b'"text"', b"\xff\xfe", b"[" * 100_000, b"9" * 10_000, b"NaN"])
def test_a_line_that_is_no_event_is_shown_raw(line: bytes) -> None:
    (turn,) = conversation.turns(line + b"\n")
    assert (turn["who"], turn["parts"][0]["kind"]) == ("event", "raw")


def test_a_transcript_that_stops_in_the_middle_keeps_its_complete_lines() -> None:
    found = conversation.turns(b'{"role": "assistant", "content": "whole"}\n{"role": "assis')
    assert [turn["parts"][0]["text"] for turn in found] == ["whole", '{"role": "assis']


def test_long_parts_keep_head_and_tail() -> None:
    half = conversation.PART_LIMIT // 2
    (turn,) = turns({"role": "assistant", "content": "a" * (half + 40) + "b" * (half + 40)})
    assert turn["parts"][0]["text"] == "a" * half + "\n[… 80 characters left out …]\n" + "b" * half
    assert turn["parts"][0]["cut"] == 80


def test_an_endless_transcript_ends_with_a_note() -> None:
    most = conversation.TOTAL_LIMIT // 10_000
    found = turns(*({"role": "assistant", "content": "x" * 10_000} for _ in range(most + 20)))
    assert len(found) <= most + 3
    assert found[-1]["who"] == "note"


@given(st.lists(JSON, max_size=4))
def test_no_event_makes_it_fail(events: list[Any]) -> None:
    for turn in turns(*events):
        for part in turn["parts"]:
            assert isinstance(part["text"], str)


@given(st.binary(max_size=200))
def test_no_bytes_make_it_fail(data: bytes) -> None:
    conversation.turns(data)


def test_what_a_client_tells_block_by_block_is_one_turn_and_a_subagents_words_are_marked() -> None:
    def said(message: str, words: str, parent: str | None = None) -> dict[str, Any]:
        content = [{"type": "text", "text": words}]
        return {"type": "assistant", "message": {"id": message, "content": content}, "parent_tool_use_id": parent}

    found = turns(said("m1", "a"), said("m1", "b"), said("m2", "c", "toolu_1"), {"type": "user"}, said("m2", "d"))
    assert [(turn["number"], turn["aside"], [part["text"] for part in turn["parts"]]) for turn in found[:2]] == [
        (1, False, ["a", "b"]),
        (2, True, ["c"]),
    ]
    assert found[3]["number"] == 3


def test_phases_have_headings_where_there_are_several() -> None:
    events = [{"role": "assistant", "content": str(n)} for n in range(3)]
    text = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    found = conversation.turns(text, phases=[("plan", 2), ("work", 1)])
    assert [(turn["who"], turn["parts"][0]["text"]) for turn in found] == [
        ("phase", "plan"),
        ("assistant", "0"),
        ("assistant", "1"),
        ("phase", "work"),
        ("assistant", "2"),
    ]
    assert len(conversation.turns(text, phases=[("work", 3)])) == 3

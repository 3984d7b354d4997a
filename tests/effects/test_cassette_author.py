"""Cassettes written by hand: plain data in, a provider's events out, and faults named where they stand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench.effects import cassette_requests, cassettes
from bench.effects.cassette_author import authored
from bench.errors import CorpusError

USAGE = {"input_tokens": 10, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 5}
PLAIN = {"input_tokens": 10, "cache_read_input_tokens": 4, "output_tokens": 5}


def one(usage: dict[str, int] = USAGE, **more: Any) -> dict[str, Any]:
    turns = [{"text": "Look.", "commands": ["ls 'a b'", {"run": "false", "fails": True}], "usage": usage}]
    return {"prompt": "p", "turns": turns, "final": {"text": "Done.", "usage": usage}} | more


def test_anthropic_events_make_the_message_that_was_written() -> None:
    tape = cassettes.parse(authored("anthropic/claude-sonnet-4-5", "anthropic", [one()]), "x")
    first, last = (cassette_requests.anthropic_message(t["response"]) for t in tape.conversations[0]["turns"])
    assert [b["type"] for b in first["content"]] == ["text", "tool_use", "tool_use"]
    assert first["content"][1]["input"] == {"command": "ls 'a b'"}
    assert (first["stop_reason"], last["stop_reason"]) == ("tool_use", "end_turn")
    assert first["usage"] == USAGE
    assert first["model"] == "claude-sonnet-4-5"


def test_a_client_s_own_tools_are_called_by_name() -> None:
    calls = [{"tool": "Read", "input": {"file_path": "/workspace/a"}}, {"tool": "Bash", "input": {}, "fails": True}]
    turns = [{"text": "Look.", "commands": ["ls"], "calls": calls, "usage": USAGE}]
    tape = cassettes.parse(authored("m", "anthropic", [one(turns=turns)]), "x")
    first, last = tape.conversations[0]["turns"]
    blocks = cassette_requests.anthropic_message(first["response"])["content"][1:]
    assert [(block["name"], block["input"]) for block in blocks] == [
        ("bash", {"command": "ls"}),
        ("Read", {"file_path": "/workspace/a"}),
        ("Bash", {}),
    ]
    assert [result["error"] for result in last["request"]["results"]] == [False, False, True]


def test_openai_completion_is_the_one_that_was_written() -> None:
    tape = cassettes.parse(authored("openai/gpt-4o-mini", "openai", [one(PLAIN)]), "x")
    first = cassette_requests.openai_completion(tape.conversations[0]["turns"][0]["response"])
    assert first["choices"][0]["finish_reason"] == "tool_calls"
    assert (first["usage"]["prompt_tokens"], first["usage"]["completion_tokens"]) == (14, 5)
    assert first["usage"]["prompt_tokens_details"] == {"cached_tokens": 4}


def test_the_same_script_gives_the_same_bytes() -> None:
    assert authored("m", "openai", [one(PLAIN)]) == authored("m", "openai", [one(PLAIN)])


def test_results_of_a_turn_are_asked_for_by_the_next() -> None:
    turns = json.loads(authored("m", "anthropic", [one()]))["conversations"][0]["turns"]
    made = cassettes.call_ids("anthropic", turns[0]["response"])
    assert turns[1]["request"]["results"] == [{"id": made[0], "error": False}, {"id": made[1], "error": True}]


@pytest.mark.parametrize(
    ("script", "format", "named"),
    [
        (one(), "gemini", "gemini"),
        (one(), "openai", "cache writes"),
        (one(odd=1), "anthropic", "'odd'"),
        (one(turns=[{"calls": [{"tool": "Read", "imput": {}}], "usage": USAGE}]), "anthropic", "'imput'"),
        (one(turns=[{"calls": [{"tool": "Read"}], "usage": USAGE}]), "anthropic", "a call needs tool"),
        (one({"input_tokens": 1}), "anthropic", "conversation 0, turn 0"),
        (one() | {"final": {"text": "x", "commands": ["ls"], "usage": USAGE}}, "anthropic", "final turn"),
    ],
)
def test_a_fault_is_named_with_its_place(script: dict[str, Any], format: str, named: str) -> None:
    with pytest.raises(CorpusError, match=named):
        authored("m", format, [script])

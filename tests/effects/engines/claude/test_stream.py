from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.effects.engines.claude.stream import Stream, parse, tokens_of

USAGE = {"input_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3, "output_tokens": 4}
RESULT = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 2, "total_cost_usd": 0.5, "usage": USAGE}
INIT = {"type": "system", "subtype": "init"}


def stream(*events: object, end: bytes = b"") -> Stream:
    return parse(b"".join(json.dumps(event).encode() + b"\n" for event in events) + end)


def test_a_whole_stream() -> None:
    found = stream(INIT, RESULT)
    assert (found.faults, found.truncated) == ((), False)
    assert (found.usage, found.cost_usd, found.turns) == (USAGE, 0.5, 2)


def test_system_events_after_the_result_are_outside_the_window() -> None:
    """Failure mode 12: background bookkeeping after the result made 3 of 18 finished sessions invalid."""
    # PR 2785 of the reference: trailing bookkeeping invalidated 3 of 18 finished sessions.
    found = stream(INIT, RESULT, {"type": "system", "subtype": "task"}, {"type": "system"})
    assert (found.faults, len(found.events)) == ((), 2)


@pytest.mark.parametrize(
    ("events", "fault"),
    [
        ((), "no event"),
        ((INIT,), "no result"),
        ((INIT, RESULT, RESULT), "2 results"),
        ((INIT, RESULT, {"type": "user"}), "something but system events"),
        ((INIT, ["x"], RESULT), "line 2 is not an event"),
        (({"type": 1}, RESULT), "line 1 is not an event"),
    ],
)
def test_what_is_wrong_is_named(events: tuple[object, ...], fault: str) -> None:
    assert fault in " ".join(stream(*events).faults)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b'{"type": "x", "n": NaN}', "is not JSON"),
        (b'{"type": "x", "n": -Infinity}', "is not JSON"),
        (b'{"type": "x", "n": 1e999}', "is not JSON"),
        (b'{"type": "x\xff"}', "is not UTF-8"),
        (b"", "is not JSON"),
        (b'{"type": "x", "n": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "is not JSON"),
        (b'{"type": "x", "n": ' + b"[" * 300 + b"]" * 300 + b"}", "is nested too deeply"),
    ],
)
def test_a_line_that_is_no_event_ends_what_is_kept(line: bytes, fault: str) -> None:
    found = parse(json.dumps(INIT).encode() + b"\n" + line + b"\n" + json.dumps(RESULT).encode() + b"\n")
    assert found.faults[0] == f"line 2 {fault}"
    assert (found.events, found.result) == ((INIT,), None)


def test_a_cut_in_the_middle_of_a_line_keeps_the_lines_before_it() -> None:
    # claude-code 17248, 39700, 1920.
    found = stream(INIT, {"type": "assistant"}, end=b'{"type": "assistant", "mess')
    assert (len(found.events), found.truncated, found.result) == (2, True, None)
    assert "middle of a line" in found.faults[0]


def test_a_last_line_without_its_newline_is_whole_when_it_is() -> None:
    found = parse(json.dumps(RESULT).encode())
    assert (found.faults, found.truncated) == ((), False)


@pytest.mark.parametrize("cost", [None, -1, "1", True, 10**400])
def test_a_cost_that_is_none_is_unknown_and_zero_stays_zero(cost: object) -> None:
    assert stream(RESULT | {"total_cost_usd": cost}).cost_usd is None
    assert stream(RESULT | {"total_cost_usd": 0.0}).cost_usd == 0.0


@pytest.mark.parametrize("name", sorted(USAGE))
@pytest.mark.parametrize("value", [None, -1, 1.5, True, "1"])
def test_usage_needs_four_whole_counts(name: str, value: object) -> None:
    assert tokens_of(USAGE | {name: value}) is None
    assert tokens_of({key: n for key, n in USAGE.items() if key != name}) is None


def test_the_total_is_over_all_models() -> None:
    model = {"inputTokens": 1, "cacheCreationInputTokens": 2, "cacheReadInputTokens": 3, "outputTokens": 4}
    found = stream(RESULT | {"modelUsage": {"a": model, "b": model}})
    assert found.total == {name: 2 * n for name, n in USAGE.items()}
    assert stream(RESULT | {"modelUsage": {"a": {}}}).total is None
    assert stream(RESULT | {"modelUsage": {"a": 1}}).total is None
    assert stream(RESULT).total is None


def test_turns_without_a_result_are_answers_of_the_main_conversation() -> None:
    def said(number: int, parent: str | None = None) -> dict[str, object]:
        return {"type": "assistant", "parent_tool_use_id": parent, "message": {"id": f"m{number}", "content": []}}

    assert stream(said(1), said(1), said(2), said(3, "tool")).turns == 2


@given(st.binary(max_size=300))
def test_no_bytes_break_it(raw: bytes) -> None:
    found = parse(raw)
    assert found.faults or found.result is not None


@given(st.integers(min_value=0, max_value=2000))
def test_wherever_it_is_cut_what_is_kept_is_what_was_whole(place: int) -> None:
    events = [INIT, *({"type": "assistant", "n": n, "text": "x" * n} for n in range(20)), RESULT]
    raw = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    found = parse(raw[:place])
    assert list(found.events) == events[: len(found.events)]
    assert len(found.events) >= raw[:place].count(b"\n")

from __future__ import annotations

from typing import Any

import pytest

from bench.effects.engines.claude.evidence import plain, rejected, skill_used, tool_counts
from bench.effects.engines.claude.stream import Stream
from bench.effects.engines.transcript import dump

Event = dict[str, Any]


def asked(tool: str = "Skill", call: object = "t1", **given: object) -> Event:
    block = {"type": "tool_use", "id": call, "name": tool, "input": given or {"skill": "plan"}}
    return {"type": "assistant", "message": {"content": [block]}}


def answered(call: object = "t1", **more: object) -> Event:
    return {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": call, "content": "ok"} | more]}}


def used(*events: Event) -> bool | None:
    return skill_used(Stream(events, None), "plan")[0]


@pytest.mark.parametrize(
    "given",
    [
        {"skill": "plan"},
        {"command": "/plan now"},
        {"name": "acme:plan"},
        {"skill": "/acme:tools:plan with words"},
    ],
)
def test_a_call_with_an_answer_is_a_use_however_it_is_named(given: dict[str, object]) -> None:
    """Failure mode 17: the name of a plugin's skill, `plugin:skill`, was not matched."""
    # PR 2431 and #17 of the reference: names qualified by a plugin were not matched.
    assert used(asked(**given), answered()) is True
    assert used(asked("SKILL", **given), answered(is_error=False)) is True


@pytest.mark.parametrize(
    "given", [{"skill": "planning"}, {"skill": "plan:other"}, {"other": "plan"}, {"skill": 1}, {"skill": " "}]
)
def test_another_skill_is_none(given: dict[str, object]) -> None:
    assert used(asked(**given), answered()) is False


def test_no_call_and_a_refused_call_are_no_use() -> None:
    assert used() is False
    assert used(asked("Bash", command="cat plan/SKILL.md"), answered()) is False
    assert used(asked(), answered(is_error=True)) is False


@pytest.mark.parametrize(
    "events",
    [
        (asked(),),
        (answered(), asked()),
        (asked(), answered("t2")),
        (asked(), answered(), answered()),
        (asked(), asked(), answered()),
        (asked(), answered(is_error="no")),
        (asked(call=None), answered(None)),
        (asked(call="x y"), answered("x y")),
        (asked(call="x" * 257), answered("x" * 257)),
    ],
)
def test_what_cannot_be_matched_is_unverifiable_and_not_false(events: tuple[Event, ...]) -> None:
    state, why = skill_used(Stream(events, None), "plan")
    assert state is None
    assert why


def test_one_success_is_enough() -> None:
    assert used(asked(), asked(call="t2"), answered("t2")) is True


def test_call_and_answer_in_one_event_prove_nothing() -> None:
    both = {"type": "assistant", "message": {"content": [*asked()["message"]["content"], *answered()["message"]["content"]]}}
    assert used(both) is None


def test_tools_are_counted_by_announced_names() -> None:
    init = {"type": "system", "subtype": "init", "tools": ["Bash", "Task", "mcp__graph__callers"]}
    sub = asked("Bash", "t2") | {"parent_tool_use_id": "t1"}
    events = (init, asked("Agent"), sub, asked("mcp__graph__callers"), asked("::error::x"))
    assert tool_counts(Stream(events, None)) == {"Agent": 1, "Bash": 1, "mcp__graph__callers": 1, "unknown": 1}


def test_a_refusal_is_read_from_structured_fields_alone() -> None:
    limit = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1_900_000_000}}
    assert rejected(Stream((limit,), None)) == {"cls": "usage-limit", "resets_at": 1_900_000_000}
    in_ms = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1_900_000_000_000}}
    assert rejected(Stream((in_ms,), None)) == {"cls": "usage-limit", "resets_at": 1_900_000_000}
    allowed = {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning", "resetsAt": 1}}
    assert rejected(Stream((limit, allowed), None)) is None
    assert rejected(Stream((), {"type": "result", "api_error_status": 529})) == {"cls": "overloaded", "status": 529}
    words = answered(content="429 Too Many Requests: You've hit your limit, resets 3pm")
    assert rejected(Stream((words,), {"type": "result", "result": "You've hit your usage limit"})) is None


def test_clocks_and_the_clients_own_ids_do_not_reach_the_transcript() -> None:
    def conversation(session: str, agent: str, at: str) -> Stream:
        done = {"agentId": agent, "totalDurationMs": int(at), "content": "x"}
        first = {"type": "system", "session_id": session, "uuid": at, "timestamp": at}
        told = answered(content=f"agentId: {agent}") | {"session_id": session, "tool_use_result": done}
        return Stream((first, told, {"type": "result", "session_id": session, "duration_ms": int(at)}), None)

    one, two = (conversation(*given) for given in (("a1b2c3d4-x", "f00dbeef1", "1"), ("99999999-y", "beeff00d2", "2")))
    assert [dump(event) for event in plain(one)] == [dump(event) for event in plain(two)]


def test_content_keeps_its_keys() -> None:
    event = asked("mcp__graph__callers", timestamp="content", uuid="content")
    assert plain(Stream((event,), None)) == [event]

"""What a stream shows of a session: skills used, tools called, and the transcript that is kept. Pure.

A skill was used when a Skill call that names it was answered, in a later event, by a result that is no error. A call that
cannot be matched to an answer leaves the question open; what the agent says about it is never counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bench.core import outages
from bench.effects.engines.claude.stream import Event, Stream, blocks

_ID = re.compile(r"[A-Za-z0-9_.:-]{1,256}")
_TOOL = re.compile(r"[A-Za-z0-9_-]{1,128}")
_CLOCKS = frozenset(
    {
        "uuid",
        "timestamp",
        "duration_ms",
        "duration_api_ms",
        "ttft_ms",
        "ttft_stream_ms",
        "time_to_request_ms",
        "totalDurationMs",
        "end_time",
        "start_time",
        "durationMs",
    }
)
"""Keys of the client's own bookkeeping that differ between two runs of the same conversation."""
_SYNTHETIC = "<synthetic>"
"""The model of messages that the client makes up itself, such as that of an error."""
_NAMED = {"session_id": "session", "task_id": "task", "agentId": "task"}


def skill_used(stream: Stream, skill: str) -> tuple[bool | None, tuple[str, ...]]:
    """(True, False or None = unverifiable, why it is unverifiable)."""
    asked: dict[str, int] = {}
    problems: list[str] = []
    answers: dict[str, list[tuple[int, Any]]] = {}
    for place, event in enumerate(stream.events):
        for block in blocks(event):
            if block.get("type") == "tool_use" and _names(block, skill):
                _ask(block, place, asked, problems)
            elif block.get("type") == "tool_result":
                answers.setdefault(str(block.get("tool_use_id")), []).append((place, block.get("is_error", False)))
    used = [_answered(call, place, answers.get(call, [])) for call, place in asked.items()]
    if any(state is True for state in used):
        return True, ()
    problems += [state for state in used if isinstance(state, str)]
    if problems:
        return None, tuple(f"skill {skill}: {problem}" for problem in problems)
    return False, ()


def _ask(block: Mapping[str, Any], place: int, asked: dict[str, int], problems: list[str]) -> None:
    call = block.get("id")
    if not isinstance(call, str) or not _ID.fullmatch(call):
        problems.append("a call has no usable id")
    elif call in asked:
        problems.append("two calls have the same id")
        del asked[call]
    else:
        asked[call] = place


def _answered(call: str, place: int, answers: list[tuple[int, Any]]) -> bool | str:
    if not answers:
        return "a call has no answer"
    if len(answers) > 1:
        return "a call has two answers"
    [(where, failed)] = answers
    if failed is not None and not isinstance(failed, bool):
        return "an answer does not say whether it failed"
    if where <= place:
        return "an answer stands before its call"
    return not failed


def _names(block: Mapping[str, Any], skill: str) -> bool:
    name, given = block.get("name"), block.get("input")
    if not isinstance(name, str) or name.casefold() != "skill" or not isinstance(given, Mapping):
        return False
    for key in ("skill", "command", "name"):
        text = given.get(key)
        if isinstance(text, str) and text.split():
            return text.split()[0].removeprefix("/").rpartition(":")[2] == skill
    return False


def tool_counts(stream: Stream) -> dict[str, int]:
    """Calls by tool, subagents included. A name that the client did not announce is the model's text: `unknown`."""
    known = {"Agent"}
    counts: dict[str, int] = {}
    for event in stream.events:
        if event.get("type") == "system" and isinstance(event.get("tools"), list):
            known |= {name for name in event["tools"] if isinstance(name, str) and _TOOL.fullmatch(name)}
        for block in blocks(event) if event.get("type") == "assistant" else ():
            if block.get("type") == "tool_use":
                name = block.get("name")
                counted = name if isinstance(name, str) and name in known else "unknown"
                counts[counted] = counts.get(counted, 0) + 1
    return dict(sorted(counts.items()))


def rejected(stream: Stream) -> dict[str, Any] | None:
    """{cls, resets_at?} of the last rate limit event that refused a call, or of the result's own error status."""
    found = None
    for event in stream.events:
        if event.get("type") == "rate_limit_event" and isinstance(event.get("rate_limit_info"), dict):
            found = outages.of_event(event)
    status = (stream.result or {}).get("api_error_status")
    if found is None and isinstance(status, int):
        found = outages.of_call({"http_status": status}, now=0.0)  # a moment counts beside headers alone
    return None if found is None else found.told()


def unserved(stream: Stream, server: str) -> str | None:
    """What the client said of an MCP server when the session began, unless it was connected; None when it was, or unsaid.

    An arm that is to have graph tools, and had none, would be measured as another arm.
    """
    start = next(
        (event for event in stream.events if event.get("type") == "system" and event.get("subtype") == "init"), None
    )
    listed = start.get("mcp_servers") if start else None
    if not isinstance(listed, list):
        return None
    states = [entry.get("status") for entry in listed if isinstance(entry, dict) and entry.get("name") == server]
    return None if states == ["connected"] else str(states[0])[:80] if states else "absent"


def plain(stream: Stream) -> list[Event]:
    """The events without clocks, ids of the client's own numbered in order: the same conversation, the same bytes."""
    ids: dict[str, str] = {}
    for event in stream.events:
        _collect(event, ids)
    pattern = re.compile("|".join(re.escape(i) for i in sorted(ids, key=len, reverse=True))) if ids else None
    return [_timeless(event, ids, pattern, top=True) for event in stream.events]


def _collect(value: Any, ids: dict[str, str]) -> None:
    message = value.get("message")
    if isinstance(message, dict) and message.get("model") == _SYNTHETIC and isinstance(message.get("id"), str):
        ids.setdefault(message["id"], f"message-{len(ids) + 1}")
    for key, item in value.items():
        kind = _NAMED.get(key)
        if kind and isinstance(item, str) and len(item) >= 8:
            ids.setdefault(item, f"{kind}-{len(ids) + 1}")
        elif key == "tool_use_result" and isinstance(item, dict):
            _collect(item, ids)


def _timeless(value: Any, ids: Mapping[str, str], pattern: re.Pattern[str] | None, *, top: bool) -> Any:
    if isinstance(value, str):
        return pattern.sub(lambda found: ids[found[0]], value) if pattern else value
    if isinstance(value, list):
        return [_timeless(item, ids, pattern, top=top) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, item in value.items():
        if not top or key not in _CLOCKS:
            # What the model and the tools said is content: its keys are nobody's clock.
            out[key] = _timeless(item, ids, pattern, top=top and key != "message")
    return out

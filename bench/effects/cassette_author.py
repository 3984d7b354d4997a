"""Writes cassettes by hand: a readable script of assistant turns becomes the events that a provider would have sent.

    authored("anthropic/claude-sonnet-4-5", "anthropic", [{
        "prompt": task_prompt,                      # the suite's text; digested here
        "skills": ["fix-durations"],                # names offered; [] for an arm without skills
        "take": 0,                                  # run r plays take r mod the number of takes
        "turns": [
            {"text": "I read the skill first.", "commands": ["cat /opt/skills/fix-durations/SKILL.md"],
             "usage": {"input_tokens": 1200, "output_tokens": 80}},
            {"text": "Now the tests.", "commands": [{"run": "python -m pytest -q", "fails": True}],
             "sees": skill_text, "usage": {…}},     # optional: text of the results just before this turn
        ],
        "final": {"text": "Done.", "usage": {…}},
    }])

A command is a string, or {"run": …, "fails": true} where its exit status will not be 0 (the flag is matched on replay).
Beside `commands`, or instead, `calls` are calls of a client's own tools: {"tool": "Read", "input": {…}, "fails"?: true}.
Two conversations with the same prompt, skill names and take (two bodies of one skill) are told apart in one of two ways:
- `"offer": {name: SKILL.md text}` on the conversation: the skills' texts; the simplest where the author has the files;
- `sees` on a turn: the text of the tool results that precede it, without their status line; the turns before it must
  then be equal, usage included.
Where neither fits (a skill was edited since), the replay is a mismatch unless the answers are the same.
Token counts are the author's: uncached input, cache writes, cache reads, output.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import digest
from bench.core.records import TOKENS
from bench.effects import cassettes
from bench.errors import CorpusError

_TURN = {"text", "commands", "calls", "usage", "sees"}
Call = tuple[str, str, Mapping[str, Any]]
"""Id, tool, input."""
_CONVERSATION = {"prompt", "skills", "offer", "take", "turns", "final"}


def authored(model: str, format: str, conversations: Sequence[Mapping[str, Any]], *, effort: str | None = None) -> bytes:
    """A cassette in canonical JSON from plain data (see the module). Raises CorpusError naming the place that is wrong."""
    if format not in cassettes.FORMATS:
        raise CorpusError(f"unknown cassette format {format!r}", remedy="one of " + ", ".join(cassettes.FORMATS))
    made = {
        "schema": cassettes.SCHEMA,
        "model": model,
        "effort": effort,
        "format": format,
        "conversations": [_conversation(model, format, c, f"conversation {n}") for n, c in enumerate(conversations)],
    }
    data = digest.canonical(made)
    cassettes.parse(data, "authored cassette")
    return data


def _conversation(model: str, format: str, script: Mapping[str, Any], where: str) -> dict[str, Any]:
    _known(script, _CONVERSATION, where)
    prompt = script["prompt"]
    skills = sorted(script.get("skills", []))
    take = script.get("take", 0)
    # Ids are made from what tells the conversation apart, but for what `sees` tells: its first turns must be equal.
    stem = digest.of("assay/cassette-ids/1", [cassettes.prompt_digest(prompt), skills, take])[3:15]
    turns = []
    before: list[dict[str, Any]] = []
    for number, turn in enumerate([*script.get("turns", []), script["final"]]):
        place = f"{where}, turn {number}"
        _known(turn, _TURN, place)
        made = _calls(turn, place)
        request: dict[str, Any] = {"model": model, "results": before}
        if "sees" in turn:
            request["seen"] = cassettes.seen_digest([turn["sees"]] if isinstance(turn["sees"], str) else turn["sees"])
        ids = [f"toolu_{stem}{number:02d}{k:02d}" for k in range(len(made))]
        calls = [(name, call["tool"], call["input"]) for name, call in zip(ids, made, strict=True)]
        say = _anthropic if format == "anthropic" else _openai
        response = say(model.rpartition("/")[2], f"{stem}{number:02d}", turn, calls, _usage(turn, place))
        turns.append({"request": request, "response": response})
        before = [{"id": name, "error": bool(call.get("fails"))} for name, call in zip(ids, made, strict=True)]
    if before:
        raise CorpusError("the final turn makes a tool call", where=where, remedy="`final` takes text and usage")
    head = " ".join(prompt.split())[:120]
    told = {
        "prompt": cassettes.prompt_digest(prompt),
        "preview": head,
        "skills": skills,
        "take": take,
        "turns": turns,
    }
    return told | ({"offer": cassettes.offer_digest(script["offer"])} if "offer" in script else {})


def _calls(turn: Mapping[str, Any], place: str) -> list[dict[str, Any]]:
    """The tool calls of a turn: commands are calls of the tool `bash`."""
    made = []
    for given in turn.get("commands", []):
        command = {"run": given} if isinstance(given, str) else dict(given)
        _known(command, {"run", "fails"}, place)
        fails = {"fails": True} if command.get("fails") else {}
        made.append({"tool": "bash", "input": {"command": str(command["run"])}} | fails)
    for call in turn.get("calls", []):
        _known(call, {"tool", "input", "fails"}, place)
        if not isinstance(call.get("tool"), str) or not isinstance(call.get("input"), Mapping):
            raise CorpusError("a call needs tool, a text, and input, a mapping", where=place)
        made.append(dict(call))
    return made


def _known(found: Mapping[str, Any], allowed: set[str], where: str) -> None:
    for key in sorted(set(found) - allowed):
        raise CorpusError(f"unknown key {key!r}", where=where, remedy="one of " + ", ".join(sorted(allowed)))


def _usage(turn: Mapping[str, Any], where: str) -> dict[str, int]:
    given = turn.get("usage")
    if not given or not {"input_tokens", "output_tokens"} <= set(given) or set(given) - set(TOKENS):
        raise CorpusError("usage needs input_tokens and output_tokens", where=where, remedy="of " + ", ".join(TOKENS))
    return {field: int(given.get(field, 0)) for field in TOKENS}


def _anthropic(
    model: str, name: str, turn: Mapping[str, Any], calls: Sequence[Call], usage: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Server-sent events of the Messages API."""
    start: dict[str, Any] = {
        "id": f"msg_{name}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": dict(usage) | {"output_tokens": 1},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = []
    if turn.get("text"):
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": turn["text"]}))
    for call, tool, given in calls:
        block = {"type": "tool_use", "id": call, "name": tool, "input": {}}
        blocks.append((block, {"type": "input_json_delta", "partial_json": json.dumps(given)}))
    for index, (block, delta) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": usage["output_tokens"]}})
    return [*events, {"type": "message_stop"}]


def _openai(
    model: str, name: str, turn: Mapping[str, Any], calls: Sequence[Call], usage: Mapping[str, int]
) -> list[dict[str, Any]]:
    """One whole chat completion."""
    if usage["cache_creation_input_tokens"]:
        raise CorpusError("the openai format does not bill cache writes", remedy="leave cache_creation_input_tokens out")
    prompt = usage["input_tokens"] + usage["cache_read_input_tokens"]
    message: dict[str, Any] = {"role": "assistant", "content": turn.get("text") or None}
    if calls:
        message["tool_calls"] = [
            {"id": call, "type": "function", "function": {"name": tool, "arguments": json.dumps(given)}}
            for call, tool, given in calls
        ]
    completion = {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": usage["output_tokens"],
            "total_tokens": prompt + usage["output_tokens"],
            "prompt_tokens_details": {"cached_tokens": usage["cache_read_input_tokens"]},
        },
    }
    return [completion]

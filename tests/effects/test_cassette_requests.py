"""Requests and events of both formats, read into one shape."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.effects import cassette_requests as reading
from bench.effects.cassettes import Request, Result

CALL = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}


def test_the_same_conversation_is_the_same_request_in_both_formats() -> None:
    openai = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "do"},
        {"role": "assistant", "content": "x", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "1", "content": "exit status: 2\nout"},
        {"role": "assistant", "content": "y"},
    ]
    anthropic = [
        {"role": "user", "content": [{"type": "text", "text": "do"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "x"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "bash", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "is_error": True, "content": "out"}]},
        {"role": "assistant", "content": "y"},
    ]
    wanted = Request("m", "do", (("1",), ()), ((Result("1", True, "out"),), ()))
    assert reading.from_openai("m", openai) == wanted
    assert reading.from_anthropic("m", anthropic) == wanted
    assert wanted.turn == 2


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("exit status: 0\nexit status: 1\n", False),
        ("exit status: 0", False),
        ("exit status: 01\n", True),
        ("exit status: stopped after 3 s\n", True),
        ("no status", False),
        ("", False),
    ],
)
def test_a_status_other_than_zero_is_an_error(content: str, error: bool) -> None:
    messages = [
        {"role": "user", "content": "do"},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "1", "content": content},
    ]
    assert reading.from_openai("m", messages).results[0][0].error is error


def chunk(delta: dict[str, Any], **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": more.pop("finish", None)}
    return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]} | more


@settings(deadline=None)
@given(st.text(min_size=1), st.integers(1, 5))
def test_chunks_make_the_whole(command: str, size: int) -> None:
    arguments = json.dumps({"command": command})
    pieces = [arguments[i : i + size] for i in range(0, len(arguments), size)]
    head = {"index": 0, "id": "t", "type": "function", "function": {"name": "bash", "arguments": ""}}
    parts = [chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in pieces]
    usage = {"id": "c", "choices": [], "usage": {"prompt_tokens": 1}}
    whole = reading.openai_completion(
        [chunk({"content": "Hi"}), chunk({"tool_calls": [head]}), *parts, chunk({}, finish="tool_calls"), usage]
    )
    message = whole["choices"][0]["message"]
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"command": command}
    assert (message["content"], whole["choices"][0]["finish_reason"], whole["usage"]) == (
        "Hi",
        "tool_calls",
        {"prompt_tokens": 1},
    )


def test_thinking_and_signature_survive() -> None:
    events = [
        {"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "abc"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    message = reading.anthropic_message(events)
    assert message["content"] == [{"type": "thinking", "thinking": "hm", "signature": "abc"}]
    assert message["usage"] == {"input_tokens": 3, "output_tokens": 9}

"""What passes the gate, and as what."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.effects.gateway import gate
from bench.effects.gateway.gate import CHAT, COUNT, MESSAGES, RESPONSES, Call, Gate
from bench.effects.gateway.wire import Answer, Asked

KEY = "sk-door-0123456789"


def ask(body: Any, path: str = MESSAGES, **headers: str) -> Asked:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Asked("POST", path, {"x-api-key": KEY} | headers, lambda: data)


def test_the_public_fields_pass_and_no_other():
    body = {
        "model": "m",
        "messages": [],
        "stream": True,
        "thinking": {"type": "enabled"},
        "metadata": {"user_id": "u", "tags": ["x"]},
    }
    evil = {
        "api_base": "http://x",
        "api_key": "k",
        "fallbacks": ["y"],
        "mock_response": "z",
        "user_config": {},
        "litellm_metadata": {},
    }
    found = Gate("m", KEY).judge(ask(body | evil, f"{MESSAGES}?beta=true"))
    assert isinstance(found, Call)
    assert found.body == body | {"metadata": {"user_id": "u"}}
    assert found.stream
    assert found.path == MESSAGES


@pytest.mark.parametrize("path", [MESSAGES, CHAT, RESPONSES])
def test_the_key_may_come_in_either_header_and_goes_no_further(path: str):
    given_as = {
        "authorization": f"Bearer {KEY}",
        "x-api-key": "",
        "anthropic-version": "2023-06-01",
        "cookie": "c",
        "x-other": "o",
    }
    found = Gate("m", KEY).judge(ask({"model": "m"}, path, **given_as))
    assert isinstance(found, Call)
    assert found.headers == {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("body", "headers", "status", "why"),
    [
        ({"model": "m"}, {"x-api-key": "other"}, 403, "key"),
        ({"model": "m"}, {"x-api-key": ""}, 403, "key"),
        ({"model": "m"}, {"x-api-key": "ü"}, 403, "key"),
        ({"model": "n"}, {}, 403, "model"),
        ({"model": ["m"]}, {}, 403, "model"),
        ({}, {}, 403, "model"),
        (b"[1]", {}, 400, "body"),
        (b"{", {}, 400, "body"),
        (b"[" * 100_000, {}, 400, "body"),
        (b"\xff", {}, 400, "body"),
        ({"model": "m", "messages": [3]}, {}, 400, "body"),
        ({"model": "m", "messages": "x"}, {}, 400, "body"),
        ({"model": "m", "messages": [{"content": [3]}]}, {}, 400, "body"),
        ({"model": "m", "messages": [{"content": 3}]}, {}, 400, "body"),
        ({"model": "m", "messages": [{"tool_calls": ["x"]}]}, {}, 400, "body"),
        (b'{"model": "m", "system": ' + b"[" * 900 + b"]" * 900 + b"}", {}, 200, ""),
        (
            b'{"model": "m", "messages": [{"content": ' + b'[{"content": ' * 450 + b"[]" + b"}]" * 450 + b"}]}",
            {},
            400,
            "body",
        ),
        (b'{"model": "m", "messages": [{"tool_call_id": ' + b"[" * 900 + b"]" * 900 + b"}]}", {}, 400, "body"),
        ({"model": "m", "tools": [{"type": "web_fetch_20250910"}]}, {}, 403, "server tool"),
        ({"model": "m", "tools": [{"type": "code_execution_20250825"}]}, {}, 403, "server tool"),
        ({"model": "m", "tools": [{"type": 3}]}, {}, 403, "server tool"),
    ],
)
def test_refusals_are_noted(body: Any, headers: dict[str, str], status: int, why: str):
    made = Gate("m", KEY)
    found = made.judge(ask(body, **headers))
    if isinstance(found, Call):
        assert why == ""  # as deep as JSON may be here, and still passed on whole
        assert json.loads(found.data)["system"]
        return
    assert (found.status, [entry["why"] for entry in made.refused]) == (status, [why])
    assert made.foreign == (why == "key")
    assert json.loads(found.body)["type"] == "error"


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("POST", "/v1/embeddings", {}),
        ("GET", MESSAGES, {}),
        ("HEAD", "/", {}),
        ("POST", MESSAGES, {"x-api-key": "other"}),
    ],
)
def test_what_the_head_bars_is_not_read(method: str, path: str, headers: dict[str, str]):
    read: list[bool] = []
    asked = Asked(method, path, {"x-api-key": KEY} | headers, lambda: bytes(read.append(True) or 0))
    assert isinstance(Gate("m", KEY).judge(asked), Answer)
    assert not read


def test_tools_of_the_client_pass():
    tools = [{"name": "a"}, {"type": "custom", "name": "b"}, {"type": "bash_20250124"}, {"type": "function", "function": {}}]
    assert isinstance(Gate("m", KEY).judge(ask({"model": "m", "tools": tools})), Call)


def test_once_shut_everything_is_refused_for_the_first_reason():
    made = Gate("m", KEY)
    made.shut("budget")
    made.shut("revoked")
    found = made.judge(ask({"model": "m"}))
    assert isinstance(found, Answer)
    assert (found.status, made.refused[0]["why"], made.is_shut) == (403, "budget", True)


def test_counting_tokens_asks_nobody():
    found = Gate("m", KEY).judge(ask({"model": "m", "messages": [{"role": "user", "content": "x" * 400}]}, COUNT))
    assert isinstance(found, Answer)
    assert 100 <= json.loads(found.body)["input_tokens"] <= 130


def test_calls_of_another_program_are_counted():
    made = Gate("m", KEY, "claude-cli/")
    assert isinstance(made.judge(ask({"model": "m"}, **{"user-agent": "claude-cli/2.1"})), Call)
    assert isinstance(made.judge(ask({"model": "m"}, **{"user-agent": "curl/8"})), Call)
    assert made.foreign == 1


def test_no_more_is_noted_than_can_be_read():
    made = Gate("m", KEY)
    for _ in range(gate.MOST_NOTED + 50):
        made.judge(ask({"model": "x" * 5000}))
    assert len(made.refused) == gate.MOST_NOTED
    assert len(made.refused[0]["model"]) == 100


@given(st.text(max_size=60), st.text(max_size=60), st.binary(max_size=60))
def test_nothing_but_the_key_opens_it(method: str, target: str, body: bytes):
    found = Gate("m", KEY).judge(Asked(method, target, {"authorization": target}, lambda: body))
    assert isinstance(found, Answer)
    assert found.status in (403, 404)


def test_the_effort_that_a_client_asks_for_is_counted_in_each_form():
    door = Gate("m", KEY)
    for path, more in (
        (MESSAGES, {"output_config": {"effort": "high"}}),
        (CHAT, {"reasoning_effort": "high"}),
        (RESPONSES, {"reasoning": {"effort": "low"}}),
        (MESSAGES, {"output_config": "high"}),
        (COUNT, {"reasoning_effort": "max"}),
    ):
        door.judge(ask({"model": "m"} | more, path))
    assert door.efforts == {"high": 2, "low": 1, "": 1}

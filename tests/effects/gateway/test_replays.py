"""The provider that plays cassettes, without a proxy in front."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from bench.effects import cassette_author, cassette_requests, cassettes
from bench.effects.gateway import replays
from bench.effects.gateway.gate import CHAT, MESSAGES, Call
from bench.effects.gateway.replays import Replays

THOUGHT = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "x",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "zzz"},
        {"type": "text", "text": "hello"},
        {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "ls"}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 3, "output_tokens": 4},
}


def made(form: str = "anthropic") -> cassettes.Cassette:
    final = {"text": "Done.", "usage": {"input_tokens": 1, "output_tokens": 1}}
    return cassettes.parse(cassette_author.authored("p/m", form, [{"prompt": "do it", "final": final}]), "made")


def ask(address: str, path: str, body: dict[str, Any]) -> tuple[int, bytes]:
    host, _slash, token = address.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=10)
    try:
        connection.request("POST", f"/{token}{path}", json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_a_message_and_its_events_are_one():
    assert cassette_requests.anthropic_message(replays.events_of(THOUGHT)) == THOUGHT


@pytest.mark.parametrize(("form", "path"), [("anthropic", "/v1/messages"), ("openai", "/chat/completions")])
def test_each_format_is_served_whole_and_as_a_stream(form: str, path: str):
    served = Replays()
    try:
        address = served.open("tok", cassettes.Player(made(form), skills={}, run=0))
        body = {"messages": [{"role": "user", "content": "do it"}]}
        whole, streamed = ask(address, path, body), ask(address, path, body | {"stream": True})
        assert (whole[0], streamed[0]) == (200, 200)
        events = [json.loads(line[6:]) for line in streamed[1].decode().splitlines() if line.startswith("data: {")]
        joined = (
            cassette_requests.anthropic_message(events)
            if form == "anthropic"
            else cassette_requests.openai_completion(events)
        )
        first = json.loads(whole[1])
        assert joined["usage"] == first["usage"]
        assert joined.get("content") == first.get("content")
        assert [c["message"]["content"] for c in joined.get("choices", [])] == ["Done."] * (form == "openai")
        assert ask(address, path, {"messages": [{"role": "user", "content": "else"}]})[0] == 400
        served.shut("tok")
        assert ask(address, path, body)[0] == 400
    finally:
        served.close()


@pytest.mark.parametrize("path", [MESSAGES, CHAT])
def test_side_requests_have_no_tools_and_begin_like_nothing_recorded(path: str):
    def call(said: str, **more: Any) -> Call:
        return Call(path, {"messages": [{"role": "user", "content": said}]} | more, {})

    assert replays.is_side(call("quota"), made())
    assert not replays.is_side(call("quota", tools=[{"name": "bash"}]), made())
    assert not replays.is_side(call("do it"), made())
    assert json.loads(replays.side_answer(call("quota"), "m").body)["usage"] == {"input_tokens": 0, "output_tokens": 0}
    assert replays.side_answer(call("quota", stream=True), "m").kind == "text/event-stream"

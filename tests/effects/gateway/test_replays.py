"""The provider that plays cassettes, without a proxy in front."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.effects import cassette_author, cassette_requests, cassettes
from bench.effects.cassette_record import Recorded
from bench.effects.gateway import replays
from bench.effects.gateway.gate import CHAT, MESSAGES, Call, Gate
from bench.effects.gateway.recorder import Tape
from bench.effects.gateway.replays import Replays
from bench.effects.gateway.wire import Asked
from bench.effects.redact import Redactor

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


NAME = st.sampled_from(
    ["role", "content", "type", "text", "id", "tool_use_id", "is_error", "tool_calls", "function", "name"]
)
ATOM = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["user", "assistant", "tool", "text", "tool_use", "tool_result"])
)
VALUE = st.recursive(ATOM, lambda v: st.lists(v, max_size=3) | st.dictionaries(NAME, v, max_size=4), max_leaves=12)


@given(VALUE, st.sampled_from([MESSAGES, CHAT]), st.booleans())
def test_whatever_the_gate_passes_can_be_read(messages: object, path: str, tools: bool):
    body = {"model": "m", "messages": messages} | ({"tools": [{"name": "x"}]} if tools else {})
    judged = Gate("m", "k").judge(Asked("POST", path, {"x-api-key": "k"}, json.dumps(body).encode))
    if not isinstance(judged, Call):
        return
    cassette = made()
    if not replays.is_side(judged, cassette):
        found = cassettes.Player(cassette, skills={}, run=0).answer(replays.request_of(judged, cassette.model))
        assert isinstance(found, cassettes.Mismatch | list)
    tape = Tape(Recorded("p/m", None, {}, 0))
    if path == MESSAGES:
        tape.add(judged.body, [{"type": "message"}])
    assert tape.cassette(Redactor()).data is None or judged.body.get("tools")

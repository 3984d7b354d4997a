"""The real proxy, with a cassette or a scripted provider behind it."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from typing import Any

import pytest

from bench.effects import cassette_author, cassettes
from bench.effects.gateway import SOCKET, Ask, Gateway
from bench.errors import CorpusError
from tests.effects.gateway.clients import Connection, Purse, call, events, message
from tests.effects.gateway.provider import ANTHROPIC, EVENTS, Provider

pytestmark = pytest.mark.slow

USAGE = {"input_tokens": 1000, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 5, "output_tokens": 80}
LAST = {"input_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 2}


def conversation(prompt: str, **more: Any) -> dict[str, Any]:
    turns = [{"text": "I look.", "commands": ["ls"], "usage": USAGE}]
    return {"prompt": prompt, "skills": [], "turns": turns, "final": {"text": "Done.", "usage": LAST}} | more


def cassette(*conversations: dict[str, Any], model: str = "anthropic/claude-sonnet-4-5", form: str = "anthropic") -> bytes:
    return cassette_author.authored(model, form, list(conversations) or [conversation("do it")])


def replay(name: str = "a", data: bytes | None = None, **more: Any) -> Ask:
    return Ask(session=name, model="replay/demo", cassette=data or cassette(), **more)


def live(provider: Provider, name: str = "live", **more: Any) -> Ask:
    return Ask(**({"session": name, "model": "anthropic/claude-sonnet-4-5", "base_url": provider.address} | more))


def answered(door: Any, call_id: str, said: str = "do it") -> dict[str, Any]:
    """The second turn's body."""
    messages = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": [{"type": "tool_use", "id": call_id, "name": "bash", "input": {"command": "ls"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": "file"}]},
    ]
    return message(door, messages=messages)


def test_a_recorded_stream_comes_through_as_it_was_recorded(proxied: Gateway):
    data = json.loads(cassette())
    data["conversations"][0]["turns"][0]["response"] = EVENTS
    door = proxied.open(replay(data=json.dumps(data).encode()))
    status, body = call(door, message(door, stream=True))
    traffic = door.close()
    assert status == 200
    assert events(body) == EVENTS
    assert traffic.usage == ANTHROPIC
    assert traffic.replayed
    assert traffic.spent_usd == 0.0
    assert traffic.list_price_usd == pytest.approx((11 * 3 + 3 * 3.75 + 5 * 0.3 + 7 * 15) / 1e6, abs=1e-6)
    assert [entry["status"] for entry in traffic.calls] == ["ok"]
    assert traffic.mismatch is None


def test_a_whole_conversation_is_replayed_and_counted(proxied: Gateway):
    door = proxied.open(replay())
    status, body = call(door, message(door))
    (made,) = [block for block in json.loads(body)["content"] if block["type"] == "tool_use"]
    second, last = call(door, answered(door, made["id"]))
    assert (status, second) == (200, 200)
    assert json.loads(last)["content"][0]["text"] == "Done."
    assert door.close().usage == {name: USAGE[name] + LAST[name] for name in USAGE}


def test_an_openai_cassette_serves_a_client_of_the_messages_api(proxied: Gateway):
    plain = USAGE | {"cache_creation_input_tokens": 0}
    turns = [{"text": "I look.", "commands": ["ls"], "usage": plain}]
    door = proxied.open(
        replay(data=cassette(conversation("do it", turns=turns), model="openai/gpt-4.1-mini", form="openai"))
    )
    whole, streamed = call(door, message(door)), call(door, message(door, stream=True))
    assert door.model == "gpt-4.1-mini"
    assert json.loads(whole[1])["content"][0] == {"type": "text", "text": "I look."}
    assert {"type": "text_delta", "text": "I look."} in [event.get("delta") for event in events(streamed[1])]
    traffic = door.close()
    assert traffic.usage == {name: 2 * count for name, count in plain.items()}
    assert traffic.list_price_usd == pytest.approx(2 * (1000 * 0.4 + 5 * 0.1 + 80 * 1.6) / 1e6, abs=1e-6)


def test_sessions_side_by_side_have_each_its_own_usage(proxied: Gateway):
    doors = [proxied.open(replay(f"s{n}")) for n in range(6)]
    tries = [
        threading.Thread(target=lambda d=door, n=n: [call(d, message(d)) for _ in range(n)]) for n, door in enumerate(doors)
    ]
    for one in tries:
        one.start()
    for one in tries:
        one.join()
    told = [door.close() for door in doors]
    assert [len(traffic.calls) for traffic in told] == list(range(6))
    assert [traffic.usage["output_tokens"] for traffic in told if traffic.usage] == [80 * n for n in range(6)]
    assert len({door.placeholder for door in doors}) == 6
    assert not any(door.folder.exists() for door in doors)


def test_side_requests_of_the_client_are_answered_without_a_model(proxied: Gateway):
    door = proxied.open(replay())
    probe = message(door, "quota", max_tokens=1)
    del probe["tools"]
    whole, streamed = call(door, probe), call(door, probe | {"stream": True})
    counted = call(door, message(door), "/v1/messages/count_tokens")
    assert [whole[0], streamed[0], counted[0]] == [200, 200, 200]
    assert events(streamed[1])[-1] == {"type": "message_stop"}
    assert json.loads(counted[1])["input_tokens"] > 0
    traffic = door.close()
    assert (traffic.calls, traffic.mismatch) == ((), None)
    assert traffic.usage == dict.fromkeys(USAGE, 0)


def test_what_a_cassette_does_not_hold_is_a_terminal_error_that_says_where(proxied: Gateway):
    door = proxied.open(replay())
    status, body = call(door, message(door, "do something else"))
    traffic = door.close()
    assert status == 400
    assert "turn 0, field prompt" in json.loads(body)["error"]["message"]
    assert traffic.mismatch is not None
    assert "turn 0, field prompt" in traffic.mismatch
    assert [entry["status"] for entry in traffic.calls] == ["failed"]
    assert traffic.outage is None


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/model/info"),
        ("POST", "/key/generate"),
        ("POST", "/model/new"),
        ("GET", "/v1/models"),
        ("GET", "/health/liveliness"),
        ("POST", "/v1/messages/../../key/generate"),
        ("POST", "/anthropic/v1/messages"),
        ("POST", "/v1/embeddings"),
        ("DELETE", "/v1/messages"),
    ],
)
def test_only_model_routes_pass(proxied: Gateway, method: str, path: str):
    door = proxied.open(replay())
    status, body = call(door, message(door), path, method=method)
    assert status == 403
    assert json.loads(body)["error"]["type"] == "permission_error"
    assert [entry["why"] for entry in door.close().refused] == ["route"]


def test_another_model_or_another_key_is_refused_and_noted(proxied: Gateway):
    door = proxied.open(replay())
    assert call(door, message(door, model="claude-opus-4-1"))[0] == 403
    assert call(door, message(door), headers={"x-api-key": "sk-ant-somebody"})[0] == 403
    assert call(door, message(door, tools=[{"type": "web_search_20250305", "name": "web_search"}]))[0] == 403
    assert call(door, b"", "/", method="HEAD") == (404, b"")
    traffic = door.close()
    assert [entry["why"] for entry in traffic.refused] == ["model", "key", "server tool"]
    assert traffic.refused[0]["model"] == "claude-opus-4-1"
    assert (traffic.foreign, traffic.calls) == (1, ())


def test_revoking_cuts_a_stream_and_refuses_what_follows(proxied: Gateway, provider: Provider):
    door = proxied.open(live(provider))
    connection = Connection(str(door.folder / SOCKET))
    connection.request(
        "POST", "/v1/messages", json.dumps(message(door, "slow", stream=True)), {"x-api-key": door.placeholder}
    )
    response = connection.getresponse()
    assert b"message_start" in response.read1(100_000)
    door.revoke()
    rest = b""
    with contextlib.suppress(http.client.IncompleteRead, ConnectionResetError):
        while data := response.read1(100_000):
            rest += data
    connection.close()
    assert b"message_stop" not in rest
    assert call(door, message(door))[0] == 403
    traffic = door.close()
    assert [entry["status"] for entry in traffic.calls] == ["cut"]
    assert traffic.usage is not None
    assert traffic.usage["input_tokens"] == 11
    assert [entry["why"] for entry in traffic.refused] == ["revoked"]
    assert traffic.recording is None


def test_the_call_after_the_budget_is_spent_is_refused(proxied: Gateway, provider: Provider):
    purse = Purse(0.0002)
    door = proxied.open(live(provider, **purse.terms))
    statuses = [call(door, message(door))[0] for _ in range(4)]
    traffic = door.close()
    assert statuses == [200, 200, 403, 403]  # 0.000151 a call
    assert traffic.spent_usd == pytest.approx(2 * 0.00015075, abs=1e-6)
    assert traffic.spent_usd == traffic.list_price_usd == pytest.approx(sum(purse.spent), abs=1e-6)
    assert [entry["why"] for entry in traffic.refused] == ["budget", "budget"]


def test_a_provider_gets_its_key_and_the_request_as_it_was(proxied: Gateway, provider: Provider):
    door = proxied.open(live(provider))
    wanted = {
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
        "metadata": {"user_id": "u"},
        "max_tokens": 4000,
    }
    before = len(provider.asked)
    hostile = {"fallbacks": ["x"], "mock_response": "free", "api_base": "http://elsewhere", "num_retries": 3}
    betas = {"anthropic-beta": "context-management-2025-06-27,interleaved-thinking-2025-05-14", "x-evil": "1"}
    assert call(door, message(door, **wanted, **hostile), headers=betas)[0] == 200
    door.close()
    (path, headers, body) = provider.asked[before]
    assert (path, headers["x-api-key"]) == ("/v1/messages", "sk-ant-planted-anthropic-000")
    assert {name: body[name] for name in wanted} == wanted
    assert not set(hostile) & set(body)
    assert set(betas["anthropic-beta"].split(",")) <= set(headers["anthropic-beta"].split(","))
    assert "x-evil" not in headers
    assert door.placeholder not in json.dumps([headers, body])


def test_a_recorded_session_replays_to_the_same_events(proxied: Gateway, provider: Provider):
    door = proxied.open(live(provider, "recorded", skills={"fix": "text"}))
    call(door, message(door, "<system-reminder>today</system-reminder>do it", stream=True))
    call(door, message(door, "a subagent's own", stream=True))
    title = message(door, "make a title")
    del title["tools"]
    call(door, title)
    recording = door.close().recording
    assert recording is not None
    parsed = cassettes.parse(recording, "recording")
    assert (parsed.model, parsed.format, len(parsed.conversations)) == ("anthropic/claude-sonnet-4-5", "anthropic", 2)
    again = proxied.open(replay(data=recording, skills={"fix": "text"}))
    status, body = call(again, message(again, stream=True))
    again.close()
    assert (status, events(body)) == (200, EVENTS)


def test_an_openai_model_serves_a_client_of_the_messages_api(proxied: Gateway, provider: Provider):
    door = proxied.open(live(provider, model="gpt-4.1-mini"))
    status, body = call(door, message(door, thinking={"type": "enabled", "budget_tokens": 2000}))
    traffic = door.close()
    assert status == 200, body
    assert json.loads(body)["content"] == [{"type": "text", "text": "hello"}]
    assert provider.asked[-1][1]["authorization"] == "Bearer sk-planted-openai-0000000"
    assert traffic.usage == {
        "input_tokens": 15,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 5,
        "output_tokens": 4,
    }


def test_an_openai_models_tool_calls_are_streamed_as_the_client_reads_them(proxied: Gateway, provider: Provider):
    door = proxied.open(live(provider, model="openai/gpt-5.1", base_url=f"{provider.address}/v1"))
    before = len(provider.asked)
    wanted = {"thinking": {"type": "enabled", "budget_tokens": 2000}, "context_management": {"edits": []}}
    status, body = call(door, message(door, stream=True, **wanted, metadata={"user_id": "u"}))
    traffic = door.close()
    assert status == 200, body
    told = events(body)
    path, _headers, sent = provider.asked[before]
    assert (path, sent["model"]) == ("/v1/responses", "gpt-5.1")
    assert {"type": "input_json_delta", "partial_json": '{"command": "ls"}'} in [event.get("delta") for event in told]
    assert [e["content_block"]["name"] for e in told if e.get("content_block", {}).get("type") == "tool_use"] == ["bash"]
    assert told[-1]["type"] == "message_stop"
    assert [event["delta"]["stop_reason"] for event in told if event["type"] == "message_delta"] == ["tool_use"]
    assert [entry["status"] for entry in traffic.calls] == ["ok"]
    assert traffic.usage is not None
    assert (traffic.usage["input_tokens"], traffic.usage["cache_read_input_tokens"]) == (15, 5)


@pytest.mark.parametrize(
    ("model", "sent"),
    [("openai/gpt-5.1", "high"), ("anthropic/claude-opus-4-6", "high"), ("anthropic/claude-sonnet-4-5", "")],
)
def test_an_effort_is_told_as_the_provider_was_asked_for_it(proxied: Gateway, provider: Provider, model: str, sent: str):
    # LiteLLM leaves an effort out where it believes that the model takes none; nobody is to think that it was obeyed.
    door = proxied.open(live(provider, model=model))
    assert call(door, message(door, stream=True, output_config={"effort": "high"}))[0] == 200
    body = provider.asked[-1][2]
    traffic = door.close()
    assert (body.get("output_config") or body.get("reasoning") or {}).get("effort", "") == sent
    assert [entry["effort"] for entry in traffic.calls] == [sent]


def test_a_cassette_must_be_there_before_anything_starts(proxied: Gateway):
    with pytest.raises(CorpusError, match="no such cassette"):
        proxied.open(Ask(session="x", model="replay/none"))


def test_requests_follow_one_another_on_one_connection(proxied: Gateway):
    door = proxied.open(replay())
    connection = Connection(str(door.folder / SOCKET))
    headers = {"x-api-key": door.placeholder, "transfer-encoding": "chunked"}
    for _ in range(3):
        parts = json.dumps(message(door)).encode()
        connection.request("POST", "/v1/messages", iter([parts[:9], parts[9:]]), headers, encode_chunked=True)
        assert connection.getresponse().read().startswith(b"{")
    connection.close()
    assert len(door.close().calls) == 3

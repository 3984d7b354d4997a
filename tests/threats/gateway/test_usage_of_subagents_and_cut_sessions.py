"""claude-code 93911, 87293 and stella 2131: totals left out subagents, and a session that was stopped had none at all."""

from __future__ import annotations

import contextlib
import http.client
import json

import pytest

from bench.effects.gateway import SOCKET, Gateway
from tests.effects.gateway.clients import Connection, call, message
from tests.effects.gateway.provider import Provider
from tests.effects.gateway.test_gateway import LAST, USAGE, answered, cassette, conversation, live, replay
from tests.make.clients import wait

pytestmark = pytest.mark.slow


def test_a_subagents_conversation_is_part_of_the_total(proxied: Gateway):
    sub = conversation("look for the bug", turns=[{"text": "…", "commands": ["grep x"], "usage": USAGE}])
    door = proxied.open(replay(data=cassette(conversation("do it"), sub)))
    for prompt in ("do it", "look for the bug"):
        _status, body = call(door, message(door, prompt))
        (made,) = [block for block in json.loads(body)["content"] if block["type"] == "tool_use"]
        assert call(door, answered(door, made["id"], prompt))[0] == 200
    traffic = door.close()
    assert len(traffic.calls) == 4
    assert traffic.usage == {name: 2 * (USAGE[name] + LAST[name]) for name in USAGE}


def test_what_was_used_before_a_session_was_stopped_equals_its_journal(proxied: Gateway, provider: Provider):
    door = proxied.open(live(provider))
    assert call(door, message(door))[0] == 200
    assert call(door, message(door, "status 529"))[0] == 529
    connection = Connection(str(door.folder / SOCKET))
    connection.request(
        "POST", "/v1/messages", json.dumps(message(door, "slow", stream=True)), {"x-api-key": door.placeholder}
    )
    response = connection.getresponse()
    response.read1(1000)
    traffic = door.close()
    with contextlib.suppress(http.client.IncompleteRead, ConnectionResetError):
        response.read()
    connection.close()
    assert [entry["status"] for entry in traffic.calls] == ["ok", "failed", "cut"]
    journal = [entry["usage"] for entry in traffic.calls if entry["usage"]]
    assert traffic.usage == {name: sum(usage[name] for usage in journal) for name in USAGE}
    assert traffic.usage["input_tokens"] == 22
    assert traffic.outage is None  # the last call was cut by us


@pytest.mark.parametrize(
    ("said", "more"),
    [
        ("stuck", {}),
        ("slow", {"model": "openai/gpt-5.1", "form": "/v1"}),
    ],
)
def test_a_call_that_nobody_tells_of_takes_nothing_from_what_was_spent_before(
    proxied: Gateway, provider: Provider, said: str, more: dict[str, str]
):
    # A provider that hangs, and a translated stream: LiteLLM writes no line of either when it is cut.
    address = provider.address + more.get("form", "")
    door = proxied.open(live(provider, base_url=address, **{k: v for k, v in more.items() if k != "form"}))
    assert call(door, message(door, stream=True))[0] == 200
    began = len(provider.asked)
    connection = Connection(str(door.folder / SOCKET))
    connection.request("POST", "/v1/messages", json.dumps(message(door, said, stream=True)), {"x-api-key": door.placeholder})
    assert wait(lambda: len(provider.asked) > began, 20)
    traffic = door.close()
    connection.close()
    first, cut = traffic.calls
    assert (first["status"], cut["status"]) == ("ok", "unaccounted")
    assert traffic.spent_usd == pytest.approx(first["dollars"], abs=1e-6)
    assert traffic.spent_usd > 0
    assert (traffic.exact, traffic.list_price_usd, traffic.usage) == (False, None, None)

"""Reference failure 33: a model without a price cost "0", and won on price. LiteLLM itself says 0.0 for one that it does not
know."""

from __future__ import annotations

import pytest

from bench.effects.gateway import Gateway
from tests.effects.gateway.clients import call, message
from tests.effects.gateway.provider import Provider
from tests.effects.gateway.test_gateway import cassette, live, replay

pytestmark = pytest.mark.slow


def test_an_unknown_price_is_none_and_the_usage_is_known(proxied: Gateway, provider: Provider):
    door = proxied.open(live(provider, model="hosted_vllm/own-model-7b"))
    assert call(door, message(door))[0] == 200
    traffic = door.close()
    assert traffic.usage is not None
    assert traffic.usage["output_tokens"] == 4
    assert (traffic.spent_usd, traffic.exact, traffic.list_price_usd) == (0.0, False, None)
    assert [entry["dollars"] for entry in traffic.calls] == [None]


def test_a_replay_of_one_costs_nothing_and_has_no_list_price(proxied: Gateway):
    door = proxied.open(replay(data=cassette(model="anthropic/claude-unheard-of-1")))
    assert call(door, message(door))[0] == 200
    traffic = door.close()
    assert (traffic.spent_usd, traffic.exact, traffic.list_price_usd) == (0.0, True, None)

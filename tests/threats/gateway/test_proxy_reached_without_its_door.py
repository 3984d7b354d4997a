"""A minted key alone reached `/model/info` and the routes that change the configuration, and so did the proxy's own key."""

from __future__ import annotations

import http.client
import json

import pytest

from bench.effects.gateway import keys
from bench.effects.gateway.litellm_proxy import LiteLLMGateway
from tests.effects.gateway.provider import Provider
from tests.effects.gateway.test_gateway import live

pytestmark = pytest.mark.slow

ROUTES = [
    ("GET", "/model/info"),
    ("GET", "/v1/models"),
    ("POST", "/key/generate"),
    ("POST", "/model/new"),
    ("GET", "/config/yaml"),
    ("GET", "/get/config/callbacks"),
    ("GET", "/spend/logs"),
    ("POST", "/v1/embeddings"),
    ("POST", "/v1/messages/count_tokens"),
]
BODY = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "input": "x"}


def ask(port: int, key: str, method: str, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        connection.request(method, path, json.dumps(BODY), headers)
        return connection.getresponse().status
    finally:
        connection.close()


def test_keys_open_model_routes_and_nothing_else(proxied: LiteLLMGateway, provider: Provider):
    proxied.open(live(provider)).close()  # has it started
    proxy = proxied.proxy
    assert proxy is not None
    route = {"session": "s", "model": "anthropic/claude-sonnet-4-5", "api_base": provider.address}
    good = keys.mint(proxy.secret, route)
    body, _dot, seal = good.removeprefix("sk-").partition(".")
    other = keys.mint("sk-other", route).partition(".")[0]
    forged = [
        proxy.secret,
        "sk-",
        "",
        "sk-x.y",
        f"sk-{body}",
        f"sk-{body}.",
        f"{other}.{seal[:-1]}{'1' if seal.endswith('0') else '0'}",
        keys.mint("sk-other", route),
    ]
    assert ask(proxy.port, good, "POST", "/v1/messages") == 200
    before = len(provider.asked)
    for method, path in ROUTES:
        assert ask(proxy.port, good, method, path) in (401, 403), path
        assert ask(proxy.port, proxy.secret, method, path) in (401, 403), path
    for key in forged:
        assert ask(proxy.port, key, "POST", "/v1/messages") == 401, key
    assert len(provider.asked) == before

"""One proxy for all tests of this folder in a process: it takes many seconds to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.effects import gateway
from bench.effects.gateway import Gateway
from tests.effects.gateway.provider import Provider

PLANTED = {"ANTHROPIC_API_KEY": "sk-ant-planted-anthropic-000", "OPENAI_API_KEY": "sk-planted-openai-0000000"}
"""What the tests' environment says are provider keys."""


@pytest.fixture(scope="session")
def proxied() -> Iterator[Gateway]:
    """A gateway whose proxy holds the planted keys."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in PLANTED.items():
            patch.setenv(f"BENCH_{name}", value)
        patch.setenv("BENCH_GATEWAY_START_S", "300")
        made = gateway.create()
        yield made
        made.close()


@pytest.fixture(scope="session")
def provider() -> Iterator[Provider]:
    """What live models are asked at."""
    with Provider() as made:
        yield made

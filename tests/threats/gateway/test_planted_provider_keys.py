"""The provider's key, the minted key and the proxy's own must be nowhere that a session or a record can see."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.effects.gateway import Gateway
from tests.effects.gateway.clients import call, message
from tests.effects.gateway.conftest import PLANTED
from tests.effects.gateway.provider import Provider
from tests.effects.gateway.test_gateway import live

pytestmark = pytest.mark.slow


def test_they_are_nowhere(proxied: Gateway, provider: Provider):
    door = proxied.open(live(provider))
    bodies = [call(door, message(door, said, stream=True))[1] for said in ("hi", "status 401", "status 500", "hi")]
    visible = [os.fsencode(path) for path in [door.folder, *door.folder.iterdir()]]
    proxy = proxied.proxy  # type: ignore[attr-defined]
    commands = [
        place.read_bytes() for place in Path("/proc").glob("[0-9]*/cmdline") if str(proxy.root).encode() in _read(place)
    ]
    traffic = door.close()
    kept = [repr(traffic).encode(), traffic.recording or b"", proxy.tail().encode()]
    secrets = [*PLANTED.values(), proxy.secret]
    assert commands
    for secret in secrets:
        assert not [data for data in (*bodies, *visible, *kept, *commands) if secret.encode() in data]
    assert b"Bearer" not in b"".join(kept)
    assert not [data for data in kept[:2] if door.placeholder.encode() in data]


def _read(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except OSError:
        return b""

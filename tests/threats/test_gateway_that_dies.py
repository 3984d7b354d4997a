"""The model proxy is killed while a real client works: our own failure, which was told as an outage of the service."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.make import clients, workspaces
from tests.make.workspaces import LIMITS, Bench, talk

pytestmark = pytest.mark.slow
WORK = "sleep 4.75"


def test_a_gateway_that_dies_in_mid_session_is_no_outage_of_the_service(built: Callable[[str], Path], tmp_path: Path):
    bench = Bench(workspaces.copied(built("client"), tmp_path / "ws"))
    clients.play(bench, talk(WORK), retries=0, limits=LIMITS | {"session_s": 15, "outage": 0})
    child = bench.start("-n", "1")

    def working() -> bool:
        return any("4.75" in word for process in clients.descendants(child.pid) for word in process.words)

    assert clients.wait(lambda: child.poll() is not None or working())
    (proxy,) = {process.pid for process in clients.descendants(child.pid) if "--port" in process.words}
    os.killpg(proxy, signal.SIGKILL)
    assert child.wait(120) == 1
    (record,) = clients.sessions(bench).values()
    assert (record["state"], record["body"]["error_kind"], record["body"]["error_class"]) == (
        "unusable",
        "infra-error",
        "gateway",
    )
    assert record["body"]["outage"] is None
    assert "the model gateway broke down" in record["reason"]

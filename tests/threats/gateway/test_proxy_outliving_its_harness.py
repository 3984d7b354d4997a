"""Reference failure 24: the harness was killed by SIGKILL, and its proxy, with the provider's key, went on for ever."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HARNESS = """
import json, sys, time
from bench.effects.gateway.process import Proxy
proxy = Proxy({"OPENAI_API_KEY": "sk-planted-0000000"}, program=sys.argv[1])
print(json.dumps({"root": str(proxy.root), "pid": proxy.pid, "port": proxy.port}), flush=True)
time.sleep(600)
"""
REAL = """
import json, sys, time
from bench.effects import gateway
opened = gateway.create()
door = opened.open(gateway.Ask("s", "anthropic/claude-sonnet-4-5", base_url="http://127.0.0.1:9"))
proxy = opened.proxy
print(json.dumps({"root": str(proxy.root), "pid": proxy.pid, "port": proxy.port, "door": str(door.folder)}), flush=True)
time.sleep(600)
"""


def start(text: str, *arguments: str) -> tuple[subprocess.Popen[bytes], dict[str, Any]]:
    environment = os.environ | {"BENCH_ANTHROPIC_API_KEY": "sk-ant-planted-0000000", "BENCH_GATEWAY_START_S": "300"}
    harness = subprocess.Popen([sys.executable, "-c", text, *arguments], stdout=subprocess.PIPE, env=environment)
    assert harness.stdout is not None
    return harness, json.loads(harness.stdout.readline())


def group(leader: int) -> list[int]:
    """Living processes of a process group."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _parent, owner = place.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(owner) == leader and state != "Z":
            found.append(int(place.parent.name))
    return found


def open_port(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def gone(told: dict[str, Any]) -> bool:
    deadline = time.monotonic() + 10
    while group(told["pid"]) or open_port(told["port"]) or Path(told["root"]).exists():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def finish(harness: subprocess.Popen[bytes]) -> None:
    harness.kill()
    harness.wait()
    if harness.stdout:
        harness.stdout.close()


@pytest.mark.parametrize("name", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_it(stand_in: Callable[[str], str], name: signal.Signals):
    child = "import subprocess; subprocess.Popen(['sleep', '600'])"
    harness, told = start(HARNESS, stand_in(child))
    try:
        assert len(group(told["pid"])) == 2
        assert open_port(told["port"])
        harness.send_signal(name)
        assert gone(told)
    finally:
        finish(harness)


def test_a_supervisor_that_is_killed_itself_takes_the_proxy_with_it(stand_in: Callable[[str], str]):
    harness, told = start(HARNESS, stand_in(""))
    try:
        parent = int(Path(f"/proc/{told['pid']}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(parent, signal.SIGKILL)
        deadline = time.monotonic() + 10
        while group(told["pid"]) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert group(told["pid"]) == []
    finally:
        finish(harness)
        shutil.rmtree(told["root"])  # of two that were killed neither could


@pytest.mark.slow
def test_nor_does_the_real_one(tmp_path: Path):
    harness, told = start(REAL)
    try:
        assert list(Path(told["door"]).iterdir())
        assert Path(told["root"]).stat().st_mode & 0o777 == 0o700
        assert (Path(told["root"]) / "proxy" / "config.yaml").stat().st_mode & 0o777 == 0o600
        harness.send_signal(signal.SIGKILL)
        assert gone(told)
    finally:
        finish(harness)

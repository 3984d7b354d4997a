"""A model call through door and proxy beside the same call made directly to the cassette's server.

    python tests/performance/gateway_overhead.py

Prints medians of interleaved calls in one run, in milliseconds, whole and streamed, and what starting the proxy takes.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.effects import cassette_author, cassettes, gateway
from bench.effects.gateway.litellm_proxy import LiteLLMGateway
from bench.effects.gateway.replays import Replays
from tests.effects.gateway.clients import call, message

REPEATS = 60
PROMPT = "Fix the failing test. " * 2000
TURN = {"text": "Done. " * 200, "usage": {"input_tokens": 12_000, "output_tokens": 300}}


def seconds(what: Callable[[], object]) -> float:
    """Seconds of one call."""
    before = time.perf_counter()
    what()
    return time.perf_counter() - before


def processor(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def direct(address: str, body: dict[str, Any]) -> bytes:
    """The endpoint itself."""
    host, _slash, token = address.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=60)
    try:
        connection.request("POST", f"/{token}/v1/messages", json.dumps(body), {"content-type": "application/json"})
        return connection.getresponse().read()
    finally:
        connection.close()


def main() -> None:
    """Measure and print."""
    data = cassette_author.authored("anthropic/claude-sonnet-4-5", "anthropic", [{"prompt": PROMPT, "final": TURN}])
    served = Replays()
    address = served.open("direct", cassettes.Player(cassettes.parse(data, "it"), skills={}, run=0))
    opened = LiteLLMGateway()
    ask = gateway.Ask("overhead", "replay/it", cassette=data)
    try:
        print(f"start of the proxy  {seconds(lambda: opened.open(ask).close()):8.1f} s")
        doors = [seconds(lambda: opened.open(ask).close()) for _ in range(20)]
        print(f"a further session   {1000 * statistics.median(doors):8.1f} ms")
        door = opened.open(ask)
        for name, stream in (("whole", False), ("streamed", True)):
            body = message(door, PROMPT, stream=stream)
            call(door, body)
            direct(address, body)
            began = processor(opened.proxy.pid)
            pairs = [
                (seconds(lambda b=body: call(door, b)), seconds(lambda b=body: direct(address, b))) for _ in range(REPEATS)
            ]
            per_call = 1000 * (processor(opened.proxy.pid) - began) / REPEATS
            through, beside = (1000 * statistics.median(side) for side in zip(*pairs, strict=True))
            print(f"{name:10} through the gateway {through:8.1f} ms   direct {beside:8.1f} ms")
            print(f"{'':10} more {through - beside:8.1f} ms, processor time of the proxy {per_call:8.1f} ms a call")
        traffic = door.close()
        print(f"calls counted {len(traffic.calls)}, usage {traffic.usage}")
    finally:
        opened.close()
        served.close()


if __name__ == "__main__":
    main()

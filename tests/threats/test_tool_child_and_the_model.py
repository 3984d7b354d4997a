"""What an agent's own commands can see and reach of the way to the model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.core import alarms, records
from tests.effects.engines.claude.scripted import KEY, text, turns
from tests.steps.test_session_claude import Bench, bash

pytestmark = pytest.mark.slow

ASK = """
import http.client, socket, sys
body = b'{"model":"claude-sonnet-4-5","max_tokens":1,"messages":[]}'
head = {"content-type": "application/json", "x-api-key": "no-key-is-needed-here"}
by_port = http.client.HTTPConnection("127.0.0.1", 8377)
by_port.request("POST", "/v1/messages", body, head)
print("port", by_port.getresponse().status)
straight = http.client.HTTPConnection("door")
straight.sock = socket.socket(socket.AF_UNIX)
straight.sock.connect("/run/model/model")
straight.request("POST", "/v1/messages", body, head)
print("socket", straight.getresponse().status)
"""
SEARCH = r"""
env; ls -la /run /run/model /proc; for p in /proc/[0-9]*; do
  tr '\0' '\n' < $p/environ; tr '\0' '\n' < $p/cmdline; ls -l $p/fd; strings $p/mem 2>&1 | head -3
done; cat /proc/self/mountinfo; find / -xdev -type f -size -1000k -newer /etc/passwd 2>/dev/null | head -200 | xargs cat
"""

FORGE = """
for p in /proc/[0-9]*; do for f in 0 1; do
  printf '%s\\n' '{"type":"forged"}' > $p/fd/$f
done; done 2>/dev/null; echo tried
"""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.gateway.close()


def test_a_command_that_asks_the_model_by_itself_is_refused_and_told(bench: Bench) -> None:
    asked = turns([bash(f"python3 - <<'END'\n{ASK}END")], [text("Done.")])
    made = bench.play(asked)
    assert made.state == records.FINAL
    assert "port 403" in bench.answers(made)[0]
    assert "socket 403" in bench.answers(made)[0]
    assert made.body["gateway"]["foreign_calls"] == 2
    assert [entry["kind"] for entry in alarms.of_gateway(made.body["gateway"])] == ["foreign-call"]


def test_no_command_writes_an_event_of_the_client(bench: Bench) -> None:
    made = bench.play(turns([bash(FORGE)], [text("Done.")]))
    assert made.state == records.FINAL, made.reason
    assert "tried" in bench.answers(made)[0]
    assert "forged" not in {event["type"] for event in bench.events(made)}


def test_no_command_finds_the_key_of_the_door_or_a_credential_variable(bench: Bench) -> None:
    made = bench.play(turns([bash(SEARCH)], [text("Done.")]))
    assert made.state == records.FINAL
    [said] = bench.answers(made)
    assert "CLAUDE_CODE_ENTRYPOINT" in said
    assert not [word for word in (KEY, "[redacted]", "ANTHROPIC_API_KEY=", "AUTH_TOKEN=") if word in said]
    assert bench.gateway.seen[-1][1]["x-api-key"] == KEY

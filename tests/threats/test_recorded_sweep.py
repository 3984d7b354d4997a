"""`record=`: a sweep of the real client with a model that thinks is captured, and replayed it is the same conversation.

The model is a script behind the real proxy; nothing in between knows that. Thinking and signatures must come out as they
went in, in the next request and in the cassette: a provider refuses a thought that was touched.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.effects.gateway.speaker import Block, Body, Speaker
from tests.make import clients, workspaces
from tests.make.workspaces import Bench

pytestmark = pytest.mark.slow
KEY = {"BENCH_ANTHROPIC_API_KEY": "sk-ant-planted-0123456789abcdef"}
ASKED = "SUBAGENT: what does adder.sh do?"


def thought(name: str) -> Block:
    words = f'I think of {name}:\n\ttäglich ≠ \u2028 \U0001f914 \\u0041 "quoted" sk-is-no-key'
    return {"type": "thinking", "thinking": words, "signature": base64.b64encode(name.encode() * 40).decode()}


def tool(name: str, number: str, **given: Any) -> Block:
    return {"type": "tool_use", "id": f"toolu_live_{number}", "name": name, "input": given}


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def bash(number: str, command: str) -> Block:
    return tool("Bash", number, command=command, description="work")


SEALED = {"type": "redacted_thinking", "data": base64.b64encode(bytes(range(256))).decode()}
MAIN = [
    [thought("main 0"), text("First."), bash("m0", "cat adder.sh; exit 3")],
    [thought("main 1"), tool("Task", "m1", description="look", subagent_type="general-purpose", prompt=ASKED)],
    [SEALED, thought("main 2"), bash("m2", "sed -i 's/- /+ /' adder.sh"), bash("m3", "sh adder.sh 2 3")],
    [thought("main 3"), text("Done.")],
]
ASIDE = [[thought("aside 0"), bash("s0", "wc -c adder.sh")], [text("It subtracts.")]]


def script(body: Body) -> list[Block]:
    said = ASIDE if ASKED in json.dumps(body["messages"][0]) else MAIN
    return said[sum(message["role"] == "assistant" for message in body["messages"])]


def told(events: list[dict[str, Any]]) -> str:
    return json.dumps(events, sort_keys=True)


def timeless(transcript: bytes) -> list[bytes]:
    """Lines of a transcript without the one time that the client tells the model: how long a subagent took."""
    return re.sub(rb"(duration_ms: |DurationMs\":)\d+", rb"\1", transcript).splitlines()


@pytest.fixture(scope="module")
def sweep(built: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Bench, Speaker]:
    """A workspace whose two sessions were live, and recorded."""
    bench = Bench(workspaces.copied(built("client"), tmp_path_factory.mktemp("live") / "ws"))
    with Speaker(script) as speaker:
        words = (f"model={workspaces.MODEL}", f"base_url={speaker.address}", "runs=2", "record=sweep")
        done = bench.doit("-n", "2", *words, env=KEY)
    assert done.code == 0, done.stderr
    assert "recorded 2 sessions" in done.stdout
    return bench, speaker


def test_what_the_model_said_is_in_the_cassette_word_for_word(sweep: tuple[Bench, Speaker]):
    bench, speaker = sweep
    cassette = json.loads(bench.path("corpus/cassettes/sweep.json").read_bytes())
    kept = [turn["response"] for talk in cassette["conversations"] for turn in talk["turns"]]
    sent = [events for body, events in speaker.sent if body.get("tools")]
    assert len(sent) == 2 * (len(MAIN) + len(ASIDE))
    assert sorted(map(told, kept)) == sorted(map(told, sent))
    assert {talk["take"] for talk in cassette["conversations"]} == {0, 1}


def test_thoughts_come_back_to_the_model_as_it_signed_them(sweep: tuple[Bench, Speaker]):
    for _headers, body in sweep[1].asked:
        if body.get("tools"):
            blocks = [b for m in body["messages"] if m["role"] == "assistant" for b in m["content"]]
            given = [b for b in blocks if "thinking" in b["type"]]
            n = sum(message["role"] == "assistant" for message in body["messages"])
            said = ASIDE if ASKED in json.dumps(body["messages"][0]) else MAIN
            assert given == [b for turn in said[:n] for b in turn if "thinking" in b["type"]]


def test_replayed_it_is_the_same_session(sweep: tuple[Bench, Speaker], built: Callable[[str], Path], tmp_path: Path):
    live = sweep[0]
    bench = Bench(workspaces.copied(built("client"), tmp_path / "ws"))
    path = bench.path("corpus/cassettes/sweep.json")
    path.write_bytes(live.path("corpus/cassettes/sweep.json").read_bytes())
    clients.change(bench, model="replay/sweep", runs=2)
    done = bench.doit("-n", "2")
    assert done.code == 0, done.stderr
    before, after = clients.sessions(live), clients.sessions(bench)
    assert set(before) == set(after) == {"0", "1"}
    for run in before:
        assert (before[run]["body"]["replayed"], after[run]["body"]["replayed"]) == (False, True)
        assert (before[run]["body"]["spent_usd"] > 0, after[run]["body"]["spent_usd"]) == (True, 0)
        same = ("usage", "num_turns", "tool_use_counts", "calls", "workspace_changed", "error_kind")
        assert [before[run]["body"][name] for name in same] == [after[run]["body"][name] for name in same]
        assert before[run]["body"]["calls"] == {"ok": len(MAIN) + len(ASIDE), "failed": 0}
        first, second = (clients.output(b, r[run], "transcript") for b, r in ((live, before), (bench, after)))
        assert timeless(first) == timeless(second)
        assert SEALED["data"].encode() in first
        first, second = (clients.output(b, r[run], "changes") for b, r in ((live, before), (bench, after)))
        assert first == second

"""A whole session of the real client on a model of OpenAI's: the proxy translates, and the evidence is as for any other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.effects.gateway.responder import USAGE, Body, Item, Responder, call, text
from tests.make import clients, workspaces
from tests.make.workspaces import Bench

MODEL = "openai/gpt-4.1-mini"
KEY = {"BENCH_OPENAI_API_KEY": "sk-planted-0123456789abcdef"}
COMMANDS = ["cat adder.sh", "sed -i 's/- /+ /' adder.sh"]


def script(body: Body) -> list[Item]:
    """One command after the other, then the end; a call without tools is not the conversation."""
    done = sum(item.get("type") == "function_call_output" for item in body["input"])
    if not body.get("tools") or done == len(COMMANDS):
        return [text("Done.")]
    return [text("So."), call(done, "Bash", command=COMMANDS[done], description="work")]


@pytest.mark.slow
def test_a_session_on_an_openai_model_leaves_transcript_usage_and_cost(built: Callable[[str], Path], tmp_path: Path):
    bench = Bench(workspaces.copied(built("client"), tmp_path / "ws"))
    with Responder(script) as responder:
        done = bench.doit(f"model={MODEL}", f"base_url={responder.address}/v1", env=KEY)
    assert done.code == 0, done.stdout + done.stderr
    (record,) = clients.sessions(bench).values()
    body, calls = record["body"], len(responder.asked)
    assert (record["state"], body["error_kind"], body["workspace_changed"]) == ("final", None, True)
    assert body["evidence_diagnostics"] == []
    assert body["tool_use_counts"] == {"Bash": len(COMMANDS)}
    assert body["calls"] == {"ok": calls, "failed": 0}
    assert {path for path, _ in responder.asked} == {"/v1/responses"}
    assert {asked["model"] for _, asked in responder.asked} == {"gpt-4.1-mini"}
    assert body["usage"] == body["gateway"]["usage"] == body["gateway"]["cli_usage"]
    cached = USAGE["input_tokens_details"]["cached_tokens"]
    assert body["usage"] == {
        "input_tokens": calls * (USAGE["input_tokens"] - cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": calls * cached,
        "output_tokens": calls * USAGE["output_tokens"],
    }
    # Dollars per million tokens of gpt-4.1-mini: 0.40 in, 0.10 out of the cache, 1.60 out.
    assert body["spent_usd"] == pytest.approx(calls * (600 * 0.40 + 400 * 0.10 + 50 * 1.60) / 1e6, abs=1e-6)
    transcript = [json.loads(line) for line in clients.output(bench, record, "transcript").splitlines()]
    used = [
        block["input"]["command"]
        for event in transcript
        if event["type"] == "assistant"
        for block in event["message"]["content"]
        if block["type"] == "tool_use"
    ]
    assert used == COMMANDS
    assert json.loads(bench.path("artifacts/cells/tiny/add/agent/0.json").read_bytes())["body"]["resolved"] is True

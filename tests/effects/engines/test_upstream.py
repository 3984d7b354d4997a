"""Live models behind the loop engine, played by a server on loopback: retries, failures, usage, effort, recording."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from bench.effects.engines import UNKNOWN_COST, Outcome, Work
from bench.errors import MissingPart
from tests.effects.engines.modelserver import ModelServer, anthropic, ok, openai, serve
from tests.effects.engines.test_loop import LIMITS, MODEL, play

OPENAI = "openai/gpt-4o-mini"
ERROR: dict[str, Any] = {"error": {"message": "no, with sk-ant-api03-abcdefghijklmnop", "type": "some_error"}}
KEY = "key-for-this-test-0123"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"BENCH_{name}_API_KEY", KEY)
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def live(server: ModelServer, folder: Path, model: str = OPENAI, **more: Any) -> Outcome:
    room = {name: more.pop(name) for name in ("cancel", "spent", "left") if name in more}
    base = server.url + "/v1" if model.startswith("openai/") else server.url
    params = {"base_url": base, "backoff_s": 0.01, "retries": 2}
    given: dict[str, Any] = {
        "prompt": "Do it.",
        "model": model,
        "effort": None,
        "run": 1,
        "limits": LIMITS,
        "params": params,
    }
    return play(Work(**(given | more)), folder, **room)


def test_a_session_ends_when_its_suites_budget_is_spent_by_whomever(tmp_path: Path) -> None:
    left = iter([1.0, 1.0, -0.5])
    with serve(ok(openai("Looking.", "true"))) as server:
        outcome = live(server, tmp_path, left=lambda: next(left))
        assert len(server.asked) == 2
    assert (outcome.error_kind, outcome.error_class) == ("session-error", "budget-limit")
    assert outcome.spent_usd > 0


def test_a_call_without_a_price_leaves_the_cost_unknown_and_not_zero(tmp_path: Path) -> None:
    with serve(ok(openai("Done."))) as server:
        outcome = live(server, tmp_path, model="openai/unheard-of")
    assert (outcome.error_kind, outcome.spent_usd, outcome.spent_exact) == (None, 0.0, False)
    assert UNKNOWN_COST in outcome.diagnostics


def test_a_live_session_is_measured(tmp_path: Path) -> None:
    spent: list[float] = []
    with serve(ok(openai("Looking.", "echo hi > out")), ok(openai("Done."))) as server:
        outcome = live(server, tmp_path, spent=spent)
    assert outcome.error_kind is None
    assert (tmp_path / "out").read_text() == "hi\n"
    assert outcome.usage == {
        "input_tokens": 40,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 20,
        "output_tokens": 10,
    }
    assert outcome.replayed is False
    assert outcome.spent_usd == pytest.approx(sum(spent))
    assert len(spent) == 2
    assert [c["status"] for c in outcome.calls] == ["ok", "ok"]
    last = server.asked[1]["messages"][-1]
    assert (last["role"], last["content"]) == ("tool", "exit status: 0\n")
    assert [m["role"] for m in server.asked[1]["messages"]] == ["system", "user", "assistant", "tool"]


def test_a_transient_failure_is_retried_and_counted(tmp_path: Path) -> None:
    with serve((429, ERROR, {"retry-after": "0"}), (500, ERROR, {}), ok(openai("Done."))) as server:
        outcome = live(server, tmp_path)
    assert outcome.error_kind is None
    assert [(c["status"], c["attempt"]) for c in outcome.calls] == [("failed", 1), ("failed", 2), ("ok", 3)]
    assert [c.get("http_status") for c in outcome.calls] == [429, 500, None]


@pytest.mark.parametrize(
    ("status", "kind", "attempts"),
    [
        (429, "RateLimitError", 3),
        (503, "ServiceUnavailableError", 3),
        (401, "AuthenticationError", 1),
        (400, "BadRequestError", 1),
    ],
)
def test_a_lasting_failure_is_unusable_with_its_class(tmp_path: Path, status: int, kind: str, attempts: int) -> None:
    with serve((status, ERROR, {})) as server:
        outcome = live(server, tmp_path)
    assert (outcome.error_kind, outcome.error_class) == ("session-error", "model-error")
    assert str(outcome.error_detail).startswith(f"model-error: {kind} after {attempts} attempts")
    assert len(server.asked) == len(outcome.calls) == attempts
    assert "sk-ant" not in str(outcome.error_detail)
    assert KEY.encode() not in outcome.transcript


def test_a_model_that_never_answers_can_be_cancelled(tmp_path: Path) -> None:
    cancel, hang = threading.Event(), threading.Event()
    with serve(ok(openai("late")), hang=hang) as server:
        threading.Timer(1.0, cancel.set).start()
        outcome = live(server, tmp_path, cancel=cancel)
        hang.set()
    assert outcome.error_kind == "cancelled"


def test_a_model_that_never_answers_ends_with_the_session(tmp_path: Path) -> None:
    hang = threading.Event()
    with serve(ok(openai("late")), hang=hang) as server:
        outcome = live(server, tmp_path, limits=LIMITS | {"session_s": 1})
        hang.set()
    assert (outcome.error_kind, outcome.error_class) == ("session-error", "session-timeout")


def test_unknown_usage_is_never_zero(tmp_path: Path) -> None:
    silent = openai("Done.")
    del silent["usage"]
    with serve(ok(silent)) as server:
        outcome = live(server, tmp_path)
    assert outcome.usage is None
    assert (outcome.error_kind, outcome.error_class) == ("session-error", "usage-unknown")


def test_an_answer_cut_by_its_length_is_no_answer(tmp_path: Path) -> None:
    with serve(ok(openai("I was about to", finish_reason="length"))) as server:
        outcome = live(server, tmp_path)
    assert outcome.error_class == "output-truncated"


def test_a_dropped_effort_costs_nothing_and_is_unusable(tmp_path: Path) -> None:
    with serve(ok(openai("Done."))) as server:
        outcome = live(server, tmp_path, effort="high")
    assert (outcome.error_kind, outcome.error_class) == ("session-error", "effort-dropped")
    assert server.asked == []


def test_an_effort_that_becomes_something_else_is_recorded(tmp_path: Path) -> None:
    with serve(ok(anthropic("Done."))) as server:
        outcome = live(server, tmp_path, model=MODEL, effort="high")
    assert outcome.error_kind is None
    assert outcome.effort_sent is not None
    assert "thinking" in outcome.effort_sent
    assert server.asked[0]["thinking"] == outcome.effort_sent["thinking"]
    assert any("effort high was sent as" in note for note in outcome.diagnostics)


@pytest.mark.parametrize("model", [OPENAI, MODEL])
def test_a_recorded_session_replays_to_the_same_transcript(tmp_path: Path, model: str) -> None:
    say = openai if model == OPENAI else anthropic
    first, second = tmp_path / "live", tmp_path / "replay"
    first.mkdir()
    second.mkdir()
    leak = f"echo {KEY} sk-ant-api03-abcdefghijklmnop > /dev/null"
    with serve(ok(say("Looking.", "cat missing", "echo here")), ok(say("Again.", leak)), ok(say("Done."))) as server:
        outcome = live(server, first, model=model)
    assert outcome.error_kind is None
    assert outcome.recording is not None
    assert KEY.encode() not in outcome.recording
    assert b"sk-ant-api03" not in outcome.recording
    raw = json.loads(outcome.recording)
    assert (raw["model"], raw["format"]) == (model, "openai" if model == OPENAI else "anthropic")
    assert raw["conversations"][0]["take"] == 1
    again = play(Work("Do it.", "replay/mine", None, 1, LIMITS, cassette=outcome.recording, cassette_name="mine"), second)
    assert (again.error_kind, again.error_detail) == (None, None)
    assert (again.usage, again.turns, again.spent_usd) == (outcome.usage, outcome.turns, 0.0)
    assert [line for line in again.transcript.split(b"\n") if b'"init"' not in line] == [
        line for line in outcome.transcript.split(b"\n") if b'"init"' not in line
    ]


def test_without_a_key_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_OPENAI_API_KEY")
    with serve(ok(openai("Done."))) as server, pytest.raises(MissingPart, match="set BENCH_OPENAI_API_KEY"):
        live(server, tmp_path)
    assert server.asked == []


def test_what_else_is_dropped_or_altered_is_recorded(tmp_path: Path) -> None:
    with serve(ok(openai("Done."))) as server:
        params = {"base_url": server.url + "/v1", "temperature": 0, "seed": 7}
        taken = live(server, tmp_path, params=params)
        refused = live(server, tmp_path, params=params, model="openai/gpt-5")
    assert (server.asked[0]["temperature"], server.asked[0]["seed"]) == (0, 7)
    assert taken.diagnostics == ()
    assert "temperature" not in server.asked[1]
    assert any(note.startswith("temperature 0 was dropped") for note in refused.diagnostics)
    assert refused.error_kind is None


def test_an_anthropic_conversation_is_cached(tmp_path: Path) -> None:
    with serve(ok(anthropic("Looking.", "true")), ok(anthropic("Done."))) as server:
        outcome = live(server, tmp_path, model=MODEL)
    assert outcome.error_kind is None
    marks = [json.dumps(asked).count("cache_control") for asked in server.asked]
    assert marks == [2, 2]

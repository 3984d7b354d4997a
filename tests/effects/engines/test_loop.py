"""The loop engine on replayed models: what it does with tools, skills, limits, and whatever a model may say."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bench.effects.cassette_author import authored
from bench.effects.engines import Outcome, Skill, Work
from bench.effects.engines.loop import Loop
from bench.errors import CorpusError
from tests.effects.engines.rooms import host_room

MODEL = "anthropic/claude-sonnet-4-5"
USAGE = {"input_tokens": 100, "cache_read_input_tokens": 10, "output_tokens": 7}
LIMITS = {"session_s": 60, "turns": 20, "tokens": None}
BODY = "---\nname: careful\ndescription: Be careful.\n---\n# Careful\n\nAlways run the tests twice before you answer.\n"


def script(*commands: Any, prompt: str = "Do it.", **more: Any) -> dict[str, Any]:
    turns = [
        {"text": f"turn {n}", "commands": c if isinstance(c, list) else [c], "usage": USAGE} for n, c in enumerate(commands)
    ]
    return {"prompt": prompt, "turns": turns, "final": {"text": "Done.", "usage": USAGE}} | more


def work(cassette: bytes, **more: Any) -> Work:
    given: dict[str, Any] = {"prompt": "Do it.", "model": "replay/test", "effort": None, "run": 0, "limits": LIMITS}
    return Work(**(given | {"cassette": cassette, "cassette_name": "test"} | more))


def play(asked: Work, folder: Path, **room: Any) -> Outcome:
    engine = Loop()
    try:
        engine.open(asked, host_room(folder, **room))
        return engine.run()
    finally:
        engine.close()


def events(outcome: Outcome) -> list[dict[str, Any]]:
    return [json.loads(line) for line in outcome.transcript.split(b"\n") if line]


def blocks(outcome: Outcome, kind: str) -> list[dict[str, Any]]:
    """Content blocks of a kind, over all messages."""
    said = [event["message"]["content"] for event in events(outcome) if "message" in event]
    return [block for content in said for block in content if block["type"] == kind]


def skill(folder: Path, text: str = BODY) -> Skill:
    path = folder / "skills" / "careful" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return Skill("careful", "Be careful.", str(path), text)


@pytest.mark.parametrize(("format", "model"), [("anthropic", MODEL), ("openai", "openai/gpt-4o-mini")])
def test_a_replayed_session_does_the_work(tmp_path: Path, format: str, model: str) -> None:
    tape = authored(model, format, [script(["echo one > a", "echo two > b"], {"run": "cat missing", "fails": True})])
    outcome = play(work(tape), tmp_path)
    assert (outcome.error_kind, outcome.error_detail) == (None, None)
    assert (tmp_path / "a").read_text() == "one\n"
    assert outcome.turns == 3
    assert outcome.usage == {
        "input_tokens": 300,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 30,
        "output_tokens": 21,
    }
    assert outcome.tool_counts == {"bash": 3}
    assert (outcome.replayed, outcome.spent_usd, outcome.recording) == (True, 0.0, None)
    kinds = [e["type"] for e in events(outcome)]
    assert kinds[:2] == ["system", "user"]
    assert kinds[-2:] == ["assistant", "result"]
    assert [e["is_error"] for e in blocks(outcome, "tool_result")] == [False, False, True]
    assert len(outcome.calls) == 3


def test_a_replay_gives_the_same_transcript_again(tmp_path: Path) -> None:
    tape = authored(MODEL, "anthropic", [script("echo same")])
    assert play(work(tape), tmp_path).transcript == play(work(tape), tmp_path).transcript


def test_runs_take_their_takes(tmp_path: Path) -> None:
    tape = authored(MODEL, "anthropic", [script(f"echo {n} > out", take=n) for n in range(2)])
    for run in range(4):
        play(work(tape, run=run), tmp_path)
        assert (tmp_path / "out").read_text() == f"{run % 2}\n"


def test_a_skill_is_offered_by_name_and_read_on_demand(tmp_path: Path) -> None:
    offered = skill(tmp_path)
    tape = authored(MODEL, "anthropic", [script(f"cat {offered.path}", skills=["careful"])])
    outcome = play(work(tape, skills=(offered,), expected_skill="careful"), tmp_path)
    system = events(outcome)[0]["content"]
    assert "careful: Be careful." in system
    assert offered.path in system
    assert "twice" not in system
    assert outcome.skill_used is True


@pytest.mark.parametrize(
    ("command", "used"), [("ls", False), ("wc -c {path}", None), ("echo I read the careful skill", False)]
)
def test_a_skill_is_used_only_if_that_shows(tmp_path: Path, command: str, used: bool | None) -> None:
    offered = skill(tmp_path)
    tape = authored(MODEL, "anthropic", [script(command.format(path=offered.path), skills=["careful"])])
    assert play(work(tape, skills=(offered,), expected_skill="careful"), tmp_path).skill_used is used


def test_a_mismatch_makes_the_session_unusable_and_says_where(tmp_path: Path) -> None:
    tape = authored(MODEL, "anthropic", [script("cat missing")])
    outcome = play(work(tape), tmp_path)
    assert outcome.error_kind == "session-error"
    assert outcome.error_class == "cassette-mismatch"
    assert outcome.error_detail is not None
    assert "turn 1, field results" in outcome.error_detail
    assert len(outcome.calls) == 2


def test_another_prompt_skill_or_effort_is_a_mismatch(tmp_path: Path) -> None:
    tape = authored(MODEL, "anthropic", [script("true")])
    for more, named in (
        ({"prompt": "Do that."}, "field prompt"),
        ({"skills": (skill(tmp_path),)}, "field skills"),
        ({"effort": "high"}, "field effort"),
    ):
        outcome = play(work(tape, **more), tmp_path)
        assert outcome.error_class == "cassette-mismatch"
        assert named in str(outcome.error_detail)


def test_limits_end_a_session_and_are_named(tmp_path: Path) -> None:
    tape = authored(MODEL, "anthropic", [script("true", "true", "sleep 30")])
    turns = play(work(tape, limits=LIMITS | {"turns": 2}), tmp_path)
    assert (turns.error_class, turns.turns) == ("turn-limit", 2)
    tokens = play(work(tape, limits=LIMITS | {"tokens": 117}), tmp_path)
    assert (tokens.error_class, tokens.turns) == ("token-limit", 1)
    late = play(work(tape, limits=LIMITS | {"session_s": 2}), tmp_path)
    assert (late.error_kind, late.error_class, late.turns) == ("session-error", "session-timeout", 3)
    # What was used until then is known and kept.
    assert late.usage is not None
    assert late.usage["output_tokens"] == 21


def test_one_long_command_is_stopped_and_the_session_goes_on(tmp_path: Path) -> None:
    tape = authored(MODEL, "anthropic", [script({"run": "sleep 30", "fails": True}, "echo on")])
    outcome = play(work(tape, params={"command_s": 0.5}), tmp_path)
    assert outcome.error_kind is None
    assert blocks(outcome, "tool_result")[0]["content"].startswith("exit status: stopped after")


def test_long_output_is_cut_in_the_middle(tmp_path: Path) -> None:
    tape = authored(MODEL, "anthropic", [script("seq 100000")])
    content = blocks(play(work(tape, params={"output_chars": 200}), tmp_path), "tool_result")[0]["content"]
    assert content.startswith("exit status: 0\n1\n2\n")
    assert content.endswith("99999\n100000\n")
    assert "characters left out" in content
    assert len(content) < 300


def test_cancel_stops_a_session_in_mid_command(tmp_path: Path) -> None:
    tape = authored(MODEL, "anthropic", [script("sleep 60")])
    cancel = threading.Event()
    threading.Timer(0.5, cancel.set).start()
    outcome = play(work(tape), tmp_path, cancel=cancel)
    assert (outcome.error_kind, outcome.error_class) == ("cancelled", "cancelled")
    assert events(outcome)[-1]["type"] == "result"


def edited(tape: bytes, turn: int, block: dict[str, Any]) -> bytes:
    """The cassette with its first tool call's block replaced."""
    raw = json.loads(tape)
    for event in raw["conversations"][0]["turns"][turn]["response"]:
        if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
            event["content_block"] |= {k: v for k, v in block.items() if k != "json"}
        if event["type"] == "content_block_delta" and "json" in block and event["delta"]["type"] == "input_json_delta":
            event["delta"]["partial_json"] = block["json"]
    return json.dumps(raw).encode()


@pytest.mark.parametrize(
    "block",
    [
        {"name": "rm_rf"},
        {"json": "{}"},
        {"json": "[1, 2]"},
        {"json": '{"command": 7}'},
        {"json": '{"command": "echo a\\u0000b"}'},
        {"json": '{"command": "echo \\ud800"}'},
        {"json": json.dumps({"command": "#" * 200_000})},
    ],
)
def test_a_tool_call_that_cannot_be_run_is_an_error_result(tmp_path: Path, block: dict[str, Any]) -> None:
    tape = authored(MODEL, "anthropic", [script({"run": "true", "fails": True})])
    outcome = play(work(edited(tape, 0, block)), tmp_path)
    assert outcome.error_kind is None
    assert blocks(outcome, "tool_result")[0]["is_error"] is True


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    said = "\x1b[2J::error file=x::gone <script>alert(1)</script> \ud83d lone\u2028 ##[group]\nline"
    tape = authored(MODEL, "anthropic", [script("printf '\\377\\033[31m::set-env::'")])
    raw = json.loads(tape)
    for event in raw["conversations"][0]["turns"][0]["response"]:
        if event["type"] == "content_block_delta" and event["delta"]["type"] == "text_delta":
            event["delta"]["text"] = said
    log: list[str] = []
    outcome = play(work(json.dumps(raw).encode()), tmp_path, log=log)
    assert blocks(outcome, "text")[1]["text"] == said
    assert b"\x1b" not in outcome.transcript
    assert outcome.error_kind is None
    assert not any("::" in line or "\x1b" in line or "\n" in line for line in log)


def test_secrets_and_host_paths_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "planted-0123456789")
    tape = authored(MODEL, "anthropic", [script("echo planted-0123456789 sk-ant-api03-abcdefghijklmnop")])
    log: list[str] = []
    outcome = play(work(tape), tmp_path, log=log)
    assert b"planted" not in outcome.transcript
    assert b"sk-ant-api03" not in outcome.transcript
    assert b"[redacted]" in outcome.transcript
    assert log == ["$ echo [redacted] [redacted]"]


def test_settings_and_cassette_are_checked_before_anything_runs(tmp_path: Path) -> None:
    tape = authored(MODEL, "anthropic", [script("true")])
    for asked in (work(tape, params={"retires": 1}), work(b"{}"), work(tape, model=None)):
        with pytest.raises(CorpusError):
            play(asked, tmp_path)
    with pytest.raises(CorpusError, match="no such cassette"):
        play(Work("Do it.", "replay/none", None, 0, LIMITS), tmp_path)


def test_sessions_side_by_side_do_not_meet(tmp_path: Path) -> None:
    tape = authored(MODEL, "anthropic", [script(f"echo {n} > mine", "cat mine", take=n) for n in range(6)])

    def one(run: int) -> tuple[Outcome, str]:
        folder = tmp_path / str(run)
        folder.mkdir()
        return play(work(tape, run=run), folder), (folder / "mine").read_text()

    with ThreadPoolExecutor(6) as pool:
        for run, (outcome, mine) in enumerate(pool.map(one, range(6))):
            assert outcome.error_detail is None
            assert mine == f"{run}\n"
            assert blocks(outcome, "tool_result")[1]["content"] == f"exit status: 0\n{run}\n"

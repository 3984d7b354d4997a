"""What every engine must do, whatever it is: run against the whole registry, in the real sandbox."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.effects import engines
from bench.effects.cassette_author import authored
from bench.effects.engines import ENGINES, Engine, Outcome, Room, Work
from bench.effects.sandbox import Finished, Limits, Spec, Workspace, runner
from bench.effects.sandbox.pump import Watch
from bench.errors import Cancelled
from tests.effects.engines.claude.scripted import MODEL, Reply, ScriptedGateway, text, tool, turns

TOKENS = {"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"}
PATCH = b"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"
USAGE = {"input_tokens": 1, "output_tokens": 1}
SECRET = "planted-0123456789"


def script(command: str) -> bytes:
    turns = [{"text": "", "commands": [command], "usage": USAGE}]
    told = {"prompt": "Do it.", "turns": turns, "final": {"text": SECRET, "usage": USAGE}}
    return authored("anthropic/claude-sonnet-4-5", "anthropic", [told])


PLAIN = Work("Do it.", None, None, 0, {"session_s": 60, "turns": 5, "tokens": None})
WORK: dict[str, Work] = {
    "nop": PLAIN,
    "gold": replace(PLAIN, patch=PATCH),
    "loop": replace(PLAIN, model="replay/x", cassette=script("echo two > a.txt"), cassette_name="x"),
    "claude": replace(PLAIN, model=MODEL),
}
"""Work that changes a.txt from one to two, for every engine but nop. A new engine needs an entry."""
SLOW: dict[str, Work] = {
    "loop": replace(WORK["loop"], cassette=script("sleep 60")),
    "claude": replace(PLAIN, prompt="Sleep.", model=MODEL),
}
"""Work that takes a minute, for engines that can be given such."""
HEAVY = {"claude"}
"""Engines whose client is installed for the slow tests alone."""


def answer(body: dict[str, Any]) -> Reply:
    """The scripted model behind the gateway, for engines that go through it."""
    command = "sleep 60" if "Sleep." in json.dumps(body["messages"]) else "echo two > a.txt"
    return turns([tool("Bash", command=command, description="work")], [text(SECRET)])(body)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    template = tmp_path / "template"
    template.mkdir(mode=0o755)
    (template / "a.txt").write_text("one\n")
    made = Workspace(template, tmp_path / "upper", runner.choose_backing(tmp_path))
    runner.prepare(made)
    yield made
    runner.discard(made)


@pytest.fixture
def room(workspace: Workspace) -> Iterator[Room]:
    stop = threading.Event()
    gateway = ScriptedGateway(answer)

    def execute(argv: tuple[str, ...], *, seconds: float | None = None, watch: Watch | None = None, **more: Any) -> Finished:
        return runner.run(
            Spec(tuple(argv), workspace, limits=Limits(seconds=seconds or 60), **more), cancel=stop, watch=watch
        )

    yield Room(execute, stop, lambda line: None, gateway=gateway)
    gateway.close()


def read(workspace: Workspace) -> bytes:
    return runner.run(Spec(("cat", "a.txt"), workspace)).stdout


def play(name: str, work: Work, room: Room) -> Outcome:
    engine = engines.create(name)
    engine.open(work, room)
    try:
        return engine.run()
    finally:
        engine.close()


def named(names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.slow) if name in HEAVY else name for name in sorted(names)]


each = pytest.mark.parametrize("name", named(ENGINES))


@each
def test_it_does_its_work_in_the_sandbox(name: str, room: Room, workspace: Workspace) -> None:
    outcome = play(name, WORK[name], room)
    assert (outcome.error_kind, outcome.error_detail) == (None, None)
    assert read(workspace) == (b"one\n" if name == "nop" else b"two\n")
    assert (workspace.template / "a.txt").read_text() == "one\n"


@each
def test_its_transcript_is_canonical_lines_that_end_in_one_result(name: str, room: Room) -> None:
    transcript = play(name, WORK[name], room).transcript
    events = [json.loads(line) for line in transcript.decode("utf-8").split("\n")[:-1]]
    assert transcript.endswith(b"\n")
    assert [e["type"] for e in events].count("result") == 1
    assert events[-1]["type"] == "result"
    assert [
        json.dumps(e, sort_keys=True, ensure_ascii=False, separators=(",", ":")) for e in events
    ] == transcript.decode().split("\n")[:-1]


@each
def test_its_usage_is_whole_or_unknown(name: str, room: Room) -> None:
    usage = play(name, WORK[name], room).usage
    assert usage is None or (set(usage) == TOKENS and all(isinstance(n, int) and n >= 0 for n in usage.values()))


@each
def test_the_same_work_gives_the_same_outcome(name: str, room: Room) -> None:
    first = play(name, WORK[name], room)
    room.execute(("sh", "-c", "echo one > a.txt"))
    assert play(name, WORK[name], room) == first


@each
def test_everything_it_runs_goes_through_the_room(name: str, room: Room, tmp_path: Path) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    asked: list[tuple[str, ...]] = []

    def refuse(argv: tuple[str, ...], **_given: Any) -> Finished:
        asked.append(argv)
        return Finished(0, None, b"", b"", b"", 0.0)

    play(name, WORK[name], replace(room, execute=refuse))
    assert bool(asked) is (name != "nop")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@each
def test_a_cancelled_session_does_nothing(name: str, room: Room, workspace: Workspace) -> None:
    room.cancel.set()
    try:
        outcome = play(name, WORK[name], room)
    except Cancelled:
        outcome = None
    assert outcome is None or outcome.error_kind == "cancelled"
    assert read(workspace) == b"one\n"


@pytest.mark.parametrize("name", named(SLOW))
def test_cancel_stops_it_in_the_middle(name: str, room: Room) -> None:
    threading.Timer(1.0, room.cancel.set).start()
    assert play(name, SLOW[name], room).error_kind == "cancelled"


@each
def test_closing_twice_or_unopened_is_safe(name: str, room: Room) -> None:
    engine: Engine = engines.create(name)
    engine.close()
    engine.open(WORK[name], room)
    engine.close()
    engine.close()


@each
def test_it_says_which_protocol_it_follows(name: str) -> None:
    protocol = engines.create(name).protocol
    assert isinstance(protocol, int)
    assert protocol >= 1


@each
def test_no_secret_of_the_harness_is_in_what_it_says(name: str, room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    outcome = play(name, WORK[name], room)
    said = outcome.transcript + json.dumps([dict(c) for c in outcome.calls]).encode() + str(outcome.error_detail).encode()
    assert SECRET.encode() not in said


def test_every_engine_is_covered() -> None:
    assert set(WORK) == set(ENGINES)

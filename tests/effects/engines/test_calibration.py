"""nop does nothing; gold patches files and heeds nothing that the workspace says about git."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from bench.effects import engines, proc
from bench.effects.engines import Outcome, Work
from bench.errors import Cancelled, StepFailed
from tests.effects.engines.rooms import host_room


def play(name: str, folder: Path, patch: bytes | None = None, cancel: threading.Event | None = None) -> Outcome:
    engine = engines.create(name)
    engine.open(Work("", None, None, 0, {}, patch=patch), host_room(folder, cancel))
    try:
        return engine.run()
    finally:
        engine.close()


def diff(folder: Path, before: dict[str, bytes], after: dict[str, bytes]) -> bytes:
    for side, tree in (("a", before), ("b", after)):
        for name, data in tree.items():
            (folder / side / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / side / name).write_bytes(data)
    argv = ("git", "-c", "core.quotepath=true", "diff", "--no-index", "--binary", "--no-prefix", "a", "b")
    return proc.run(argv, cwd=folder).stdout


def test_nop_says_so(tmp_path: Path) -> None:
    outcome = play("nop", tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert json.loads(outcome.transcript)["type"] == "result"
    assert outcome.usage is not None
    assert set(outcome.usage.values()) == {0}
    assert (outcome.turns, outcome.spent_usd, outcome.replayed, outcome.skill_used) == (0, 0.0, False, None)


def test_gold_is_exact_to_the_byte(tmp_path: Path) -> None:
    before = {"crlf.txt": b"a\r\nb\r\n", "noend": b"x", "odd \xc3\xa9 name\t": b"1\n"}
    before = {k.encode("latin-1").decode() if k.startswith("odd") else k: v for k, v in before.items()}
    after = {name: data + b"\x00\xff\r\nmore" for name, data in before.items()}
    (tmp_path / "making").mkdir()
    patch = diff(tmp_path / "making", before, after)
    work = tmp_path / "work"
    for name, data in before.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(data)
    (work / ".gitattributes").write_text("* text=auto eol=lf filter=evil\n")
    (work / ".git").mkdir()
    (work / ".git" / "config").write_text("[core]\n\tfsmonitor = touch hooked\n[apply]\n\twhitespace = error\n")
    play("gold", work, patch)
    assert {name: (work / name).read_bytes() for name in after} == after
    assert not (work / "hooked").exists()


def test_an_empty_patch_changes_nothing(tmp_path: Path) -> None:
    play("gold", tmp_path, b"\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("patch", [None, b"garbage\n", b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"])
def test_gold_that_cannot_be_applied_is_ours_to_raise(tmp_path: Path, patch: bytes | None) -> None:
    with pytest.raises(StepFailed):
        play("gold", tmp_path, patch)


@pytest.mark.parametrize("name", ["nop", "gold"])
def test_cancelled_before_it_began(tmp_path: Path, name: str) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        play(name, tmp_path, b"x", cancel)

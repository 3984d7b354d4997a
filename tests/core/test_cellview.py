"""One cell's page as values: what is there, and plainly nothing where there is nothing."""

from __future__ import annotations

from pathlib import Path

from bench.core import aggregate, cellview
from bench.effects.report.render import Renderer
from tests.steps.evidence import PATCH, Evidence, transcript

IDENTITY = {"task": "t", "class": "trivial", "arm": "candidate", "role": "candidate", "run": 1}


def test_a_measured_cell(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    cell = evidence.cell("t", "candidate", 1, **evidence.outcome("candidate", 0))
    session = evidence.store.find(cell.body["session_key"])
    view = cellview.build(aggregate.compact(IDENTITY, cell), cell, session, patch=PATCH, transcript=transcript())
    assert [check["passed"] for check in view["checks"]] == [True, True, True]
    assert view["checks"][1]["detail"] == "6 passed, 0 failed"
    assert view["facts"]["measured_at"] == "2026-11-29T10:00:00Z"
    assert view["prompt"].startswith("Durations")
    assert len(view["turns"]) == 5
    assert view["digests"]["cell key"] == cell.key


def test_a_prompt_that_the_transcript_begins_with_is_not_shown_twice(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    cell = evidence.cell("t", "candidate", 1)
    session = evidence.store.find(cell.body["session_key"])
    assert session
    said = transcript(session.params["prompt"])
    assert cellview.build(aggregate.compact(IDENTITY, cell), cell, session, patch=b"", transcript=said)["prompt"] is None


def test_phases_are_told_with_their_skills_and_head_their_parts_of_the_transcript(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    cell = evidence.cell("t", "candidate", 1, **evidence.outcome("candidate", 0))
    session = evidence.store.find(cell.body["session_key"])
    assert session
    usage = {"input_tokens": 5, "output_tokens": 3}
    plan = {"phase": "plan", "skill": "make-plan", "skill_invoked": True, "turns": 1, "events": 5, "usage": usage}
    session.body["phases"] = [plan, {"phase": "work", "skill": None, "skill_invoked": None, "events": 5, "usage": None}]
    session.body["calls"] = {"ok": 4, "failed": 1}
    said = transcript() + transcript("On to the work.")
    view = cellview.build(aggregate.compact(IDENTITY, cell), cell, session, patch=b"", transcript=said)
    assert [(part["phase"], part["skill"], part["input_tokens"], part["calls"]) for part in view["phases"]] == [
        ("plan", "make-plan", 5, None),
        ("work", None, None, None),
    ]
    assert [n for n, turn in enumerate(view["turns"]) if turn["who"] == "phase"] == [0, 6]
    assert view["model_calls"] == {"ok": 4, "failed": 1}
    assert view["checks"][2]["detail"] == "make-plan (plan)"
    page = Renderer().cell(view | {"suite": "s"}).decode()
    assert "Phase plan" in page
    assert "model calls failed" in page


def test_a_cell_that_did_not_run() -> None:
    view = cellview.build(aggregate.compact(IDENTITY, None), None, None, patch=b"", transcript=b"")
    assert (view["verdict"], view["reason"]) == ("not_run", aggregate.NO_RECORD)
    assert (view["patch"], view["turns"], view["digests"]) == ([], [], {})
    assert all(check["passed"] is None for check in view["checks"])


def test_patch_lines_are_told_apart_and_odd_bytes_shown() -> None:
    lines, cut = cellview.patch_lines(PATCH + b"+caf\xe9\r\n\\ No newline at end of file\n")
    kinds = [line["kind"] for line in lines]
    assert kinds[:6] == ["head", "head", "head", "head", "hunk", "same"]
    assert kinds[-2:] == ["add", "same"]
    assert lines[-2]["text"] == "+caf\\xe9\r"
    assert cut == 0


def test_a_long_patch_is_cut_and_says_by_how_much() -> None:
    lines, cut = cellview.patch_lines(b"+x\n" * 200_000)
    assert cut == 600_000 - cellview.PATCH_LIMIT
    assert len(lines) == cellview.PATCH_LIMIT // 3

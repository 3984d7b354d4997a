"""What a cell said before it was graded again."""

from __future__ import annotations

from typing import Any

from bench.core import regraded
from bench.core.records import Record, sealed


def cell(notes: dict[str, Any] | None = None, session: str = "s", **body: Any) -> Record:
    return sealed(Record("cell", "c", "k", {"session": session}, {}, "final", None, {}, body, notes=notes or {}))


def test_the_old_figures_of_the_same_session_are_noted() -> None:
    old = cell(resolved=False, review_weighted_f1=0.5, num_turns=3)
    assert regraded.before(old, "s", {"resolved": True, "review_weighted_f1": 0.7}) == {
        "resolved": False,
        "review_weighted_f1": 0.5,
    }
    assert regraded.before(old, "s", dict(old.body)) is None
    assert regraded.before(old, "other", {"resolved": True}) is None, "another measurement is no regrading"
    assert regraded.before(None, "s", {"resolved": True}) is None


def test_a_cell_made_again_alike_keeps_its_note() -> None:
    old = cell({"before": {"resolved": False}}, resolved=True)
    assert regraded.before(old, "s", {"resolved": True}) == {"resolved": False}


def test_the_report_names_old_and_new() -> None:
    cells = [
        ("t/a/0", cell({"before": {"review_weighted_f1": 0.5, "resolved": False}}, resolved=True, review_weighted_f1=0.75))
    ]
    [notice] = regraded.notices([*cells, ("t/a/1", cell(resolved=True)), ("t/a/2", None)])
    assert notice["detail"].endswith("t/a/0 (resolved no → yes, weighted F1 0.5 → 0.75)")
    assert regraded.notices([]) == []
    many = regraded.notices(cells * 20)[0]["detail"]
    assert many.endswith("; and 8 more")

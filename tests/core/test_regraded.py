"""What a cell said before it was graded again."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

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


def test_the_report_names_old_and_new_of_every_cell() -> None:
    old = {"review_weighted_f1": 0.5, "resolved": False, "review_verdict_correct": True, "review_blocker_recall": None}
    now = cell(
        {"before": old}, resolved=True, review_weighted_f1=0.75, review_verdict_correct=False, review_blocker_recall=1.0
    )
    cells = [("t/a/0", now), ("t/a/1", cell(resolved=True)), ("t/a/2", None)]
    told = ["t/a/0: resolved no → yes, verdict correct yes → no, blocker recall unknown → 1, weighted F1 0.5 → 0.75"]
    assert regraded.lines(cells) == told
    [notice] = regraded.notices(told)
    assert notice["detail"].startswith("1 session was graded again")
    assert regraded.notices([]) == []
    assert len(regraded.lines(cells * 22)) == 22, "two relabelled tasks are more cells than fit into a sentence"


BODIES = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("resolved", "oracle_passed", "review_verdict_correct"), st.booleans()),
        **dict.fromkeys(("review_weighted_f1", "review_blocker_recall"), st.none() | st.floats(0, 1)),
        "num_turns": st.integers(0, 9),
    },
)


@given(BODIES, BODIES)
def test_just_the_figures_that_differ_are_noted_and_told(old: dict[str, Any], new: dict[str, Any]) -> None:
    noted = regraded.before(cell(**old), "s", new)
    differ = {name for name in regraded.FIGURES if old.get(name) != new.get(name)}
    assert set(noted or {}) == differ
    lines = regraded.lines([("t/a/0", cell({"before": noted} if noted else {}, **new))])
    assert len(lines) == bool(differ)
    assert all(f"{regraded.FIGURES[name]} " in lines[0] for name in differ)
    assert regraded.before(cell({"before": noted} if noted else {}, **new), "s", new) == noted, "made again alike"

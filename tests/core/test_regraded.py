"""What a cell said before it was graded again."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bench.core import regraded
from bench.core.records import Record, sealed


def cell(session: str | None = "s", **body: Any) -> Record:
    inputs = {"session": session} if session else {}
    return sealed(Record("cell", "c", "k", inputs, {}, "final", None, {}, body))


def test_the_figures_of_the_same_session_are_noted_old_and_new() -> None:
    old = cell(resolved=False, review_weighted_f1=0.5, num_turns=3)
    new = cell(resolved=True, review_weighted_f1=0.7, num_turns=4)
    assert regraded.noted(old, new, None) == {"regraded": {"resolved": [False, True], "review_weighted_f1": [0.5, 0.7]}}
    assert regraded.noted(old, old, None) == {}
    assert regraded.noted(old, cell("other", resolved=True), None) == {}, "another measurement is no regrading"
    assert regraded.noted(cell(None, resolved=False), cell(None, resolved=True), None) == {}


def test_a_cell_made_again_alike_keeps_its_note() -> None:
    same = cell(resolved=True)
    assert regraded.noted(same, same, {"resolved": [False, True]}) == {"regraded": {"resolved": [False, True]}}


def test_the_report_names_old_and_new_of_every_cell() -> None:
    noted = {"review_weighted_f1": [0.5, 0.75], "resolved": [False, True], "review_blocker_recall": [None, 1.0]}
    cells = [("t/a/0", {**noted, "review_verdict_correct": [True, False]}), ("t/a/1", None), ("t/a/2", {})]
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
    noted = regraded.noted(cell(**old), cell(**new), None)
    differ = {name for name in regraded.FIGURES if old.get(name) != new.get(name)}
    assert set(noted.get("regraded", ())) == differ
    lines = regraded.lines([("t/a/0", noted.get("regraded"))])
    assert len(lines) == bool(differ)
    assert all(f"{regraded.FIGURES[name]} " in lines[0] for name in differ)
    assert regraded.noted(cell(**new), cell(**new), noted.get("regraded")) == noted, "made again alike"

"""Names of pages: readable where they can be, unique always."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from bench.core import pages

CELLS = st.lists(
    st.tuples(st.text(max_size=130), st.text("abAB-1☃", max_size=5), st.integers(0, 3)), max_size=6, unique=True
)


def test_a_plain_cell_is_called_after_itself() -> None:
    assert pages.stems([("parse", "gold", 0)]) == {("parse", "gold", 0): "parse-gold-0"}


def test_two_cells_that_read_alike_are_told_apart() -> None:
    found = pages.stems([("a-b", "c", 0), ("a", "b-c", 0), ("A-B", "C", 0), ("x", "y", 1)])
    assert len({stem.casefold() for stem in found.values()}) == 4
    assert found["x", "y", 1] == "x-y-1"


@given(CELLS)
def test_names_are_unique_ascii_and_short(cells: list[tuple[str, str, int]]) -> None:
    found = pages.stems(cells)
    assert len({stem.casefold() for stem in found.values()}) == len(cells)
    for stem in found.values():
        assert re.fullmatch(r"[A-Za-z0-9._-]{1,193}", stem)
        assert not stem.startswith(".")


def row(arm: str, run: int, role: str = "candidate", kind: str | None = None) -> dict[str, object]:
    return {"task": "t", "arm": arm, "run": run, "role": role, "error_kind": kind}


def test_a_large_suite_gets_pages_for_what_says_most() -> None:
    rows = [row("nop", 0, "calibration"), row("a", 0), row("a", 1, kind="session-error"), row("a", 2)]
    assert len(pages.chosen(rows)) == 4
    assert pages.chosen(rows, 2) == {("t", "a", 1), ("t", "a", 0)}


def test_a_reviews_artifact_has_the_references_name_where_it_can() -> None:
    cells = [("t", "review", 0), ("odd name", "review", 0)]
    stems = pages.stems(cells)
    assert pages.review(stems[cells[0]], cells[0]) == "t-review-run0"
    assert pages.review(stems[cells[1]], cells[1]) == stems[cells[1]]

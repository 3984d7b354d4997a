"""File names of the report's parts per cell: readable, ASCII, unique on any file system, never longer than one allows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.core import digest
from bench.core.rows import Where, where
from bench.core.suite import CALIBRATION

LONGEST = 180
"""Characters of a stem; file systems allow 255 bytes with the ending, readers of the reference's rows 200."""
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
_MARK = 12

MOST = 3000
"""Pages in one report. A larger suite gets pages for what competes and for what failed first; its rows are all there."""


def stems(cells: Iterable[Where]) -> dict[Where, str]:
    """(task, arm, run) → `<task>-<arm>-<run>`; a digest is added where a name is odd, too long or would clash."""
    every = list(dict.fromkeys(cells))
    plain = {cell: _ODD.sub("_", f"{cell[0]}-{cell[1]}-{cell[2]}") for cell in every}
    seen = Counter(stem.casefold() for stem in plain.values())
    return {
        cell: stem if _stands(cell, stem) and seen[stem.casefold()] == 1 else _marked(cell, stem)
        for cell, stem in plain.items()
    }


def review(stem: str, cell: Where) -> str:
    """Stem of a review's artifact: `<task>-<arm>-run<n>` as in the reference, or the cell's own where that is marked."""
    return f"{cell[0]}-{cell[1]}-run{cell[2]}" if stem == f"{cell[0]}-{cell[1]}-{cell[2]}" else stem


def _stands(cell: Where, stem: str) -> bool:
    return len(stem) <= LONGEST and stem == f"{cell[0]}-{cell[1]}-{cell[2]}" and not stem.startswith(".")


def _marked(cell: Where, stem: str) -> str:
    mark = digest.of("assay/page/1", [str(part).encode("utf-8", "surrogatepass").hex() for part in cell])
    cut = stem.lstrip(".")[: LONGEST - _MARK - 1]
    return f"{cut}-{mark.removeprefix(digest.PREFIX)[:_MARK]}"


def chosen(rows: Sequence[Mapping[str, Any]], most: int = MOST) -> set[Where]:
    """The cells that get a page: all of them, or the `most` that say most, in the order of the rows."""
    ranked = sorted(rows, key=_rank) if len(rows) > most else rows
    return {where(row) for row in ranked[:most]}


def _rank(row: Mapping[str, Any]) -> tuple[bool, bool]:
    return row["role"] == CALIBRATION, not (row.get("error_kind") or row.get("alarms"))

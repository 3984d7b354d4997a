"""The hidden labels of a review task."""

from __future__ import annotations

from typing import Any

import pytest

from bench.core import labels
from bench.errors import CorpusError
from tests.core.reviews import label_file, raw_label, truth


def test_labels_are_normalised_like_findings() -> None:
    [label] = truth(raw_label(severity="Critical", path="./src\\a.py", category="Tests", line_start=3, line_end=9))
    assert (label.severity, label.path, label.category) == ("critical", "src/a.py", "tests")
    assert (label.line_start, label.line_end) == (3, 9)


def test_a_clean_control_has_none() -> None:
    assert truth() == ()


def test_one_target_makes_a_review_task() -> None:
    assert labels.is_review(["review-labels.json"])
    assert not labels.is_review(["test_hidden.py", "x/review-labels.json"])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"line_end": 9}, "findings[0].line_end: must be at least 10"),
        ({"severity": "bad"}, "findings[0].severity: must be one of"),
        ({"path": "../x"}, "findings[0].path: holds a part .."),
        ({"scenario": "x"}, "findings[0].scenario: is not a key"),
        ({"id": ""}, "findings[0].id: is blank"),
    ],
)
def test_a_wrong_label_is_ours_to_mend(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(CorpusError) as caught:
        truth(raw_label(0, **fields))
    assert words in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"\xff", b"{", b"[" * 100_000, label_file(raw_label(1), raw_label(1)), b"{}"])
def test_a_wrong_file_names_itself(data: bytes) -> None:
    with pytest.raises(CorpusError, match=r"^oracles/x\.json"):
        labels.parse(data, "oracles/x.json")

"""The artifact of a review: every rule of the format, the first fault named, nothing raised."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import review_artifact
from bench.core.review_artifact import Fault, Review
from tests.core.reviews import artifact, raw, review


def fault(data: bytes) -> Fault:
    found = review_artifact.parse(data)
    assert isinstance(found, Fault), found
    return found


def test_a_whole_review_is_normalised() -> None:
    found = review(
        raw(1, severity="HIGH", category="Security", path=".\\src//x.py", scenario="  when  "), verdict="Request_Changes"
    )
    [finding] = found.findings
    assert (found.verdict, finding.severity, finding.category) == ("request_changes", "high", "security")
    assert (finding.path, finding.scenario, finding.line, finding.end_line) == ("src/x.py", "when", 10, 12)


def test_an_empty_approval_and_a_comment_are_reviews() -> None:
    assert review().findings == ()
    assert review(raw(), verdict="comment").verdict == "comment"
    assert review(verdict="comment").findings == ()


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (b"", "empty", "is empty"),
        (b"\xff{}", "not-utf8", "UTF-8 (byte 0)"),
        (b"{", "not-json", "(line 1)"),
        (b"{}\n\n x", "not-json", "(line 3)"),
        (b"\xef\xbb\xbf" + artifact(), "not-json", "BOM"),
        (b"[" * 200_000, "not-json", "nested too deeply"),
        (b" " * (256 * 1024 + 1), "not-regular", "bounded regular file"),
        (b" ", "not-json", "(line 1)"),
        (b"[]", "invalid", "must be an object"),
    ],
)
def test_each_cause_has_a_diagnostic_of_its_own(data: bytes, kind: str, words: str) -> None:
    """Failure mode 3: an empty artifact once read as "not UTF-8" for 15 runs."""
    found = fault(data)
    assert found.kind == kind
    assert words in found.text
    assert "\n" not in found.text


def test_the_causes_outside_the_bytes_differ_too() -> None:
    found = [review_artifact.never_written(), review_artifact.unreadable("Permission denied"), review_artifact.not_regular()]
    assert [item.kind for item in found] == ["never-written", "unreadable", "not-regular"]
    assert len({item.text for item in found}) == 3


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"line": True}, "findings[0].line: must be a whole number, not true"),
    ({"line": 1.0}, "findings[0].line: must be a whole number, not a decimal number"),
    ({"line": 0}, "findings[0].line: must be at least 1"),
    ({"end_line": 9}, "findings[0].end_line: must be at least 10"),
    ({"line": "10"}, "findings[0].line: must be a whole number, not text"),
    ({"path": "a/../b"}, "findings[0].path: holds a part .."),
    ({"path": "/etc/passwd"}, "findings[0].path: is not relative"),
    ({"path": "\\\\host\\x"}, "findings[0].path: is not relative"),
    ({"path": "C:\\x.py"}, "findings[0].path: is not relative"),
    ({"path": "c:x.py"}, "findings[0].path: is not relative"),
    ({"path": "./C:/x.py"}, "findings[0].path: is not relative"),
    ({"path": ".\\\\C:x.py"}, "findings[0].path: is not relative"),
    ({"path": "."}, "findings[0].path: names no file"),
    ({"path": "./."}, "findings[0].path: names no file"),
    ({"path": "a\0b"}, "findings[0].path: holds a NUL"),
    ({"path": "p" * 513}, "findings[0].path: holds 513 bytes"),
    ({"path": " "}, "findings[0].path: is blank"),
    ({"id": " "}, "findings[0].id: is blank"),
    ({"id": "é" * 65}, "findings[0].id: holds 130 bytes"),
    ({"id": None}, "findings[0].id: must be text, not null"),
    ({"category": ""}, "findings[0].category: is blank"),
    ({"severity": "blocker"}, "findings[0].severity: must be one of"),
    ({"severity": "low" * 6}, "findings[0].severity: holds 18 bytes"),
    ({"blocking": 1}, "findings[0].blocking: must be true or false, not 1"),
    ({"evidence": "\n\t"}, "findings[0].evidence: is blank"),
    ({"scenario": "s" * 4097}, "findings[0].scenario: holds 4097 bytes"),
    ({"evidence": "\ud800"}, "findings[0].evidence: holds half of a surrogate pair"),
    ({"line": float("nan")}, "findings[0].line: must be a whole number, not NaN"),
    ({"extra": 1}, "findings[0].extra: is not a key of this format"),
]


@pytest.mark.parametrize(("fields", "words"), REFUSED)
def test_a_wrong_field_is_named(fields: dict[str, Any], words: str) -> None:
    found = fault(artifact(raw(0, **fields)))
    assert found.kind == "invalid"
    assert found.text.startswith(words)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (artifact(schema_version=2), "schema_version: must be 1, not 2"),
        (artifact(schema_version=True), "schema_version: must be 1, not true"),
        (artifact(schema_version=1.0), "schema_version: must be 1, not a decimal"),
        (artifact(findings={}), "findings: must be a list"),
        (artifact(verdict="fine"), "verdict: must be one of"),
        (artifact(note="x"), "note: is not a key"),
        (b'{"schema_version": 1, "verdict": "approve"}', "findings: is missing"),
        (artifact(raw(), verdict="approve"), "verdict: approve stands beside findings"),
        (artifact(raw(blocking=False)), "verdict: request_changes needs a finding"),
        (artifact(raw(1), raw(1)), "findings[1].id: is the id of an earlier one"),
        (artifact(*(raw(n) for n in range(101))), "findings: has 101 entries"),
        (b'{"schema_version":1,"verdict":"approve","findings":[],"verdict":"approve"}', "verdict: stands there twice"),
    ],
)
def test_the_document_as_a_whole(data: bytes, words: str) -> None:
    assert fault(data).text.startswith(words)


def test_a_key_twice_in_a_finding_is_named() -> None:
    data = artifact(raw()).replace(b'"line": 10', b'"line": 10, "line": 11')
    assert fault(data).text == "findings[0].line: stands there twice"


def test_large_numbers_are_lines_and_endless_ones_are_refused_in_words() -> None:
    assert review(raw(line=10**30, end_line=10**30)).findings[0].line == 10**30
    data = artifact(raw()).replace(b'"line": 10', b'"line": ' + b"9" * 5000)
    assert fault(data).text == "findings[0].line: must be a whole number, not an integer of 5000 digits"


def test_limits_are_reached_exactly() -> None:
    whole = review(raw(0, id="i" * 128, path="p" * 512, evidence=" " + "e" * 4096 + " ", category="c" * 128))
    assert len(whole.findings[0].evidence) == 4096
    assert len(review(*(raw(n) for n in range(100))).findings) == 100


@given(st.binary(max_size=400) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_give_a_review_or_a_fault(data: bytes) -> None:
    found = review_artifact.parse(data)
    assert isinstance(found, Review | Fault)


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda c: st.lists(c, max_size=3)),
    st.data(),
)
def test_any_value_in_any_field_gives_a_review_or_a_fault(value: Any, data: st.DataObject) -> None:
    field = data.draw(st.sampled_from(review_artifact.FIELDS))
    found = review_artifact.parse(artifact(raw(0, **{field: value})))
    assert isinstance(found, Review) or field in found.text or found.text.startswith("verdict")

"""Records: pinned content and seal, what each covers, and bytes that are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import digest, records
from bench.core.records import Blob, Record, parse, sealed
from bench.errors import IntegrityError
from tests.core.test_digest import JSON, TEXT

KEY = "b3:55d110f0c0f04ec2835796e7b62794a112b1a38ff6165385a5fb29b74843c249"
PLAIN = Record(
    kind="session",
    name="demo/t/a/0",
    key=KEY,
    inputs={"template": "b3:" + "0" * 64},
    params={"a": 1},
    state=records.FINAL,
    reason=None,
    outputs={"out": Blob("b3:" + "2" * 64, 3)},
    body={"x": 1},
)
CONTENT = "b3:192f9e3f406cba736bec00d426c200ed611d757005e0ed83497aef10b7ba67b2"
SEAL = "b3:f0e59aa3a577748d412546eb39aa9db244a7f4761500cfa403f691d899c101ce"

BLOBS = st.builds(Blob, st.binary(max_size=4).map(digest.of_bytes), st.integers(0, 1 << 40))
RECORDS = st.builds(
    Record,
    kind=st.sampled_from(["session", "cell", "template"]),
    name=TEXT,
    key=st.binary(max_size=4).map(digest.of_bytes),
    inputs=st.dictionaries(TEXT, st.binary(max_size=4).map(digest.of_bytes), max_size=2),
    params=st.dictionaries(TEXT, JSON, max_size=2),
    state=st.sampled_from(records.STATES),
    reason=st.none() | TEXT,
    outputs=st.dictionaries(TEXT, BLOBS, max_size=2),
    body=st.dictionaries(TEXT, JSON, max_size=2),
    code=st.none() | TEXT,
    notes=st.dictionaries(TEXT, JSON, max_size=2),
)


def test_content_and_seal_are_pinned():
    record = sealed(PLAIN)
    assert (record.content, record.seal) == (CONTENT, SEAL)


@pytest.mark.parametrize("change", [{"kind": "cell"}, {"state": "unusable"}, {"outputs": {}}, {"body": {"x": 2}}])
def test_what_a_record_says_moves_content_and_seal(change: dict[str, Any]):
    record = sealed(replace(PLAIN, **change))
    assert record.content != CONTENT
    assert record.seal != SEAL


@pytest.mark.parametrize(
    "change",
    [
        {"name": "demo/t/b/0"},
        {"key": "b3:" + "3" * 64},
        {"inputs": {}},
        {"params": {"a": 2}},
        {"reason": "because"},
        {"code": "b3:" + "4" * 64},
        {"notes": {"seen": 1}},
    ],
)
def test_how_it_came_about_moves_the_seal_alone(change: dict[str, Any]):
    record = sealed(replace(PLAIN, **change))
    assert record.content == CONTENT
    assert record.seal != SEAL


@given(RECORDS)
def test_a_sealed_record_reads_back_as_itself(record: Record):
    whole = sealed(record)
    again = parse(whole.to_bytes(), "x")
    assert again.to_bytes() == whole.to_bytes()
    assert (again.content, again.seal) == (whole.content, whole.seal)


@given(RECORDS, TEXT)
def test_a_renamed_record_is_the_same_evidence(record: Record, name: str):
    whole = sealed(record)
    assert whole.renamed(name).content == whole.content
    assert whole.renamed(name).renamed(whole.name).seal == whole.seal


@given(st.data())
def test_any_changed_byte_is_noticed(data: st.DataObject):
    whole = sealed(PLAIN).to_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[place]))
    with pytest.raises(IntegrityError):
        parse(whole[:place] + bytes([other]) + whole[place + 1 :], "x")


@given(st.integers(0, len(sealed(PLAIN).to_bytes()) - 1))
def test_any_truncation_is_noticed(length: int):
    with pytest.raises(IntegrityError):
        parse(sealed(PLAIN).to_bytes()[:length], "x")


@given(st.binary())
def test_foreign_bytes_are_refused_with_a_named_error(data: bytes):
    with pytest.raises(IntegrityError):
        parse(data, "x")


@pytest.mark.parametrize("field", records.FIELDS)
@pytest.mark.parametrize("value", [None, [], 7, "text", {"a": 1}, {"a": {"b": 1}}, True])
def test_a_field_of_another_form_is_refused_not_a_crash(field: str, value: Any):
    said = sealed(PLAIN).to_json()
    if said[field] == value:
        return
    with pytest.raises(IntegrityError):
        parse(digest.canonical(said | {field: value}), "x")


@pytest.mark.parametrize("layout", [{"indent": 1}, {"separators": (", ", ": ")}, {"ensure_ascii": True, "sort_keys": False}])
def test_the_same_values_written_another_way_are_not_the_record(layout: dict[str, Any]):
    text = json.dumps(sealed(replace(PLAIN, reason="é")).to_json(), **layout)
    with pytest.raises(IntegrityError):
        parse(text.encode() + b"\n", "x")


def test_deep_nesting_is_refused_not_a_crash():
    with pytest.raises(IntegrityError):
        parse(b"[" * 100_000, "x")


def test_a_state_that_is_none_is_refused():
    with pytest.raises(ValueError, match="unknown state"):
        sealed(replace(PLAIN, state="fine"))


def test_the_error_names_the_file_and_stays_on_one_line():
    with pytest.raises(IntegrityError) as caught:
        parse(b"\n", "artifacts/cells/x.json")
    assert str(caught.value).startswith("artifacts/cells/x.json: ")
    assert "\n" not in str(caught.value)

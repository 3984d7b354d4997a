"""Digests: literal values pinned, so that an accidental change of identity is a red test and not a silent re-measurement."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import digest

TEXT = st.text(st.characters(exclude_categories=("Cs",)))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=8
)


def test_the_digest_of_nothing_is_blake3_of_the_empty_input():
    assert digest.of_bytes(b"") == "b3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"


def test_a_structure_has_a_pinned_digest():
    said = {"a": [1, 2.5, None, True, "é"]}
    assert digest.of("assay/x/1", said) == "b3:cf81240b888edacf3ac7377b336956fde11dfdea12c2d54b2c36e56ae2ce3ba7"


def test_canonical_json_is_sorted_by_code_point_utf8_and_ends_in_a_newline():
    assert digest.canonical({"é": 1, "z": "ü", "B": [], "a": {}}) == '{"B":[],"a":{},"z":"ü","é":1}\n'.encode()


@given(st.text(st.characters(exclude_categories=())))
def test_words_that_utf_8_cannot_hold_are_made_so_that_it_can(text: str):
    found = digest.encodable({text: [text, 1, None, (text,)]})
    (key,) = json.loads(digest.canonical(found))
    assert found == {key: [key, 1, None, [key]]}
    assert len(key) == len(text)
    assert digest.encodable({"a\ud800": "\udfff"}) == {"a?": "?"}


def test_a_tag_keeps_equal_payloads_apart():
    assert digest.of("assay/x/1", [1]) != digest.of("assay/x/2", [1])
    assert digest.of("assay/x/1", [1]) != digest.of_bytes(digest.canonical([1]))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, {"x": [math.nan]}])
def test_numbers_that_json_has_not_are_refused(value: Any):
    with pytest.raises(ValueError, match="JSON"):
        digest.canonical(value)


@pytest.mark.parametrize("value", [{1: "a"}, {True: "a"}, {None: 1}, [{"x": {2: 3}}], ({1: 1},)])
def test_keys_that_json_would_rename_are_refused(value: Any):
    with pytest.raises(ValueError, match="must be a string"):
        digest.canonical(value)


def test_half_a_surrogate_pair_is_refused():
    with pytest.raises(ValueError, match="surrogate"):
        digest.canonical("\ud800")


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object()])
def test_what_is_no_json_is_refused(value: Any):
    with pytest.raises(TypeError):
        digest.canonical(value)


@given(JSON)
def test_canonical_json_reads_back_as_the_value_and_is_a_fixed_point(value: Any):
    data = digest.canonical(value)
    assert digest.canonical(json.loads(data)) == data


@given(st.dictionaries(TEXT, JSON, max_size=4))
def test_the_order_of_keys_does_not_matter(value: dict[str, Any]):
    turned = dict(reversed(list(value.items())))
    assert digest.of("t/1", turned) == digest.of("t/1", value)


@given(JSON, JSON)
def test_different_structures_have_different_digests(one: Any, other: Any):
    same = digest.canonical(one) == digest.canonical(other)
    assert (digest.of("t/1", one) == digest.of("t/1", other)) == same


@given(st.binary())
def test_a_digest_has_its_form_and_a_place_in_the_store(data: bytes):
    name = digest.of_bytes(data)
    assert digest.is_digest(name)
    assert len(name) == 3 + 64
    assert digest.PREFIX + "".join(digest.shard(name)) == name


@pytest.mark.parametrize(
    "text", ["", "b3:", "b3:" + "0" * 63, "b3:" + "0" * 65, "b3:" + "A" * 64, "x3:" + "0" * 64, None, 3]
)
def test_what_is_no_digest(text: Any):
    assert not digest.is_digest(text)
    if isinstance(text, str):
        with pytest.raises(ValueError, match="not a digest"):
            digest.shard(text)

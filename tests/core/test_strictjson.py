"""Strict JSON: what Python's reader would let through."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import strictjson
from bench.core.strictjson import Refused


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a": -Infinity}', '{"a": 1.0}', '{"a": true}', '{"a": "1"}']
)
def test_what_is_no_whole_number_in_json_is_none_here(text: str) -> None:
    with pytest.raises(Refused, match=r"^a: "):
        strictjson.number(strictjson.fields(strictjson.read(text.encode()), "", ("a",))["a"], "a", 0)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda c: st.lists(c) | st.dictionaries(st.text(), c)
    )
)
def test_ordinary_documents_are_read_as_they_are(value: Any) -> None:
    assert strictjson.read(json.dumps(value).encode()) == value


@given(st.text(alphabet="ab./\\C:", min_size=1, max_size=12))
def test_a_path_is_refused_or_normal(text: str) -> None:
    try:
        found = strictjson.path(text, "path", 512)
    except Refused:
        return
    assert strictjson.path(found, "path", 512) == found
    assert not found.startswith("/")
    assert not {"", ".", ".."} & set(found.split("/"))


def test_refusals_never_repeat_the_text() -> None:
    with pytest.raises(Refused) as caught:
        strictjson.number("secret words", "line", 1)
    assert "secret" not in str(caught.value)

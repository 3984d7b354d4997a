"""Transcripts: one JSON object a line, whatever was said in it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.effects.engines import transcript
from bench.effects.engines.transcript import LIMIT, Transcript, cut, dump, preview
from bench.effects.redact import Redactor


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_any_text_survives_on_one_line(text: str) -> None:
    lone = "".join(c if not 0xD800 <= ord(c) <= 0xDBFF else "\ud801" for c in text).replace("\ud801", "\ud801.")
    kept = Transcript()
    kept.message("assistant", [{"type": "text", "text": lone}])
    data = kept.to_bytes(Redactor())
    assert data.count(b"\n") == 1
    assert json.loads(data)["message"]["content"][0]["text"] == lone
    data.decode("utf-8")


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        dump(float("nan"))


def test_keys_are_sorted_so_that_equal_events_are_equal_bytes() -> None:
    assert dump({"b": 1, "a": {"d": 2, "c": 3}}) == '{"a":{"c":3,"d":2},"b":1}'


def test_a_transcript_has_a_limit() -> None:
    kept = Transcript()
    kept.add("system", content="x" * (LIMIT // 2))
    assert not kept.full
    kept.add("system", content="x" * (LIMIT // 2))
    assert kept.full


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_a_preview_is_one_harmless_line(text: str) -> None:
    shown = preview(text + "::error::\x1b[31m\u2028##[section]")
    assert shown.isprintable()
    assert "::" not in shown
    assert "##[" not in shown
    assert not any(c in shown for c in "\x1b\n\r\u2028\x85")
    assert len(shown.encode()) < 5000


def test_what_a_reader_would_not_see_is_shown_by_its_code() -> None:
    assert preview("a\u202eb\u200bc\ud800\n d\ufeff") == r"a\u202eb\u200bc\ud800  d\ufeff"


@settings(deadline=None)
@given(st.text(), st.integers(2, 50))
def test_a_cut_keeps_head_and_tail(text: str, limit: int) -> None:
    shown = cut(text, limit)
    if len(text) <= limit:
        assert shown == text
    else:
        assert shown.startswith(text[: limit // 2])
        assert shown.endswith(text[-(limit - limit // 2) :])
        assert f"{len(text) - limit} characters" in shown


def test_the_limit_is_the_references() -> None:
    assert transcript.LIMIT == 8 * 1024 * 1024

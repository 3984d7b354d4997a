"""Hostile text: nothing hidden, reordered or obeyed, and nothing lost (public report 5; failure mode 38)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.effects.report import text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain text, ok", "plain text, ok"),
        ("two\nlines\tand tabs", "two\nlines\tand tabs"),
        ("a\r\nb\rc", "a\nb␍c"),
        ("\x1b[31mred", "␛[31mred"),
        ("nul\x00del\x7f", "nul␀del⟦U+007F⟧"),
        ("user\u202egnp.exe", "user⟦U+202E⟧gnp.exe"),
        ("zero\u200bwidth\ufeff", "zero⟦U+200B⟧width⟦U+FEFF⟧"),
        ("tag\U000e0041", "tag⟦U+E0041⟧"),
        ("lone \ud800 surrogate", "lone \\ud800 surrogate"),
        ("noncharacter \ufffe", "noncharacter ⟦U+FFFE⟧"),
        ("snow ☃ é 漢 🙂", "snow ☃ é 漢 🙂"),
    ],
)
def test_what_cannot_be_seen_is_shown(raw: str, shown: str) -> None:
    assert text.visible(raw) == shown


@given(st.text(st.characters(), max_size=60))
def test_any_text_becomes_encodable_and_showing_it_again_changes_nothing(raw: str) -> None:
    shown = text.visible(raw)
    shown.encode()
    assert text.visible(shown) == shown
    assert "\n" not in text.line(raw)


@pytest.mark.parametrize("raw", ["::error file=x::boo", "  ::set-output name=a::b", "x\n::add-mask::y", "say ##[error]boo"])
def test_no_ci_runner_finds_a_command(raw: str) -> None:
    quiet = text.quiet(raw)
    assert not re.search(r"(?m)^\s*::[a-z]", quiet)
    assert "##[" not in quiet


def test_test_ids_and_scopes_are_left_alone() -> None:
    assert text.line("tests/test_a.py::test_b and std::vector") == "tests/test_a.py::test_b and std::vector"


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [
        ("parse-duration_2", "parse-duration_2"),
        ("a | b", "a \\| b"),
        ("_x_ *y* `z` ~w~", "\\_x\\_ \\*y\\* \\`z\\` \\~w\\~"),
        ("<img src=x>&amp;", "&lt;img src=x&gt;&amp;amp;"),
        ("[a](javascript:b)", "\\[a\\](javascript:b)"),
        ("http://evil.example www.evil.example", "http&#58;//evil.example www&#46;evil.example"),
        ("@everyone", "&#64;everyone"),
        ("back\\slash", "back\\\\slash"),
        ("a\nb", "a␊b"),
    ],
)
def test_markdown_is_only_text(raw: str, escaped: str) -> None:
    assert text.markdown(raw) == escaped

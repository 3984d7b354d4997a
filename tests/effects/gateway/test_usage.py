"""Token counts of three forms become four disjoint ones, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core.records import TOKENS
from bench.effects.gateway import usage
from bench.errors import StepFailed

COUNT = st.integers(0, 10**9)


def four(plain: int, written: int, read: int, output: int) -> dict[str, int]:
    return dict(zip(TOKENS, (plain, written, read, output), strict=True))


@given(COUNT, COUNT, COUNT, COUNT)
def test_all_forms_say_the_same(plain: int, written: int, read: int, output: int):
    whole = plain + written + read
    anthropic = four(plain, written, read, output)
    responses = {
        "input_tokens": whole,
        "output_tokens": output,
        "input_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
        "output_tokens_details": {"reasoning_tokens": output},
    }
    details = {"cached_tokens": read, "cache_creation_tokens": written}
    chat = {"prompt_tokens": whole, "completion_tokens": output, "prompt_tokens_details": details}
    for form, told in (("anthropic", anthropic), ("responses", responses), ("chat", chat)):
        assert usage.form_of(told) == form
        assert usage.normalised(told, form) == anthropic


@pytest.mark.parametrize("told", [None, {}, {"prompt_tokens": 5}, {"completion_tokens": 5}, {"prompt_tokens": None}])
def test_what_was_not_told_is_unknown(told: dict[str, object] | None):
    assert usage.normalised(told, "chat") is None
    assert usage.normalised(told, "anthropic") is None


@pytest.mark.parametrize(
    ("told", "form", "why"),
    [
        (
            {"prompt_tokens": 4, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 5}},
            "chat",
            "-1 input_tokens",
        ),
        ({"input_tokens": -3, "output_tokens": 1}, "anthropic", "-3 input_tokens"),
        ({"input_tokens": "3", "output_tokens": 1}, "anthropic", "not a number"),
        ({"input_tokens": True, "output_tokens": 1}, "anthropic", "not a number"),
        ({"input_tokens": 1.5, "output_tokens": 1}, "anthropic", "not a number"),
        ({"input_tokens": 1, "output_tokens": 1}, "cohere", "unknown form"),
    ],
)
def test_what_cannot_be_is_refused(told: dict[str, object], form: str, why: str):
    with pytest.raises(StepFailed, match=why):
        usage.normalised(told, form)


def test_a_total_with_an_unknown_part_is_unknown():
    one = four(1, 2, 3, 4)
    assert usage.total([]) == four(0, 0, 0, 0)
    assert usage.total([one, one]) == four(2, 4, 6, 8)
    assert usage.total([one, None]) is None

"""Two runs of one test suite leave one text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bench.core import steady

ONE = b"""\x1b[1m=========== FAILURES ===========\x1b[0m
AssertionError: <m.Thing object at 0x7f3a2b1c4d50> != 4  (retry in 3 items)
/tmp/pytest-of-agent/pytest-0/test_x0/out.txt:12
2026-11-29 23:59:58.123456 INFO started, pid 4711
====== 1 failed, 2 passed in 0.04s ======
"""
TWO = b"""\x1b[1m============ FAILURES ============\x1b[0m
AssertionError: <m.Thing object at 0x7fff00001230> != 4  (retry in 3 items)
/tmp/pytest-of-agent/pytest-7/test_x0/out.txt:12
2026-11-30 00:00:01.9 INFO started, pid 17
======= 1 failed, 2 passed in 12.51s =======
"""


def test_what_changes_from_run_to_run_is_gone_and_the_rest_stays() -> None:
    assert steady.tail(ONE) == steady.tail(TWO)
    assert "!= 4  (retry in 3 items)" in steady.tail(ONE)
    assert "1 failed, 2 passed in <time>" in steady.tail(ONE)


def test_the_end_is_kept_and_control_characters_are_not() -> None:
    text = steady.tail(b"x" * 10_000 + b"\n\x00\x1b]0;title\x07end \xff")
    assert text.endswith("end \ufffd")
    assert len(text) <= steady.TAIL
    assert not any(ord(c) < 32 and c not in "\n\t" for c in text)


@given(st.binary(max_size=2000))
def test_any_output_gives_a_bounded_text(data: bytes) -> None:
    assert len(steady.tail(data)) <= steady.TAIL

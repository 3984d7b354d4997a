"""A command oracle's own test report, read with suspicion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import junit


def report(cases: str) -> bytes:
    return f'<?xml version="1.0"?><testsuites><testsuite>{cases}</testsuite></testsuites>'.encode()


def test_outcomes_by_test() -> None:
    data = report(
        '<testcase classname="t" name="a" time="0.1"/>'
        '<testcase classname="t" name="b"><failure message="x">y</failure></testcase>'
        '<testcase classname="t" name="c"><error/></testcase><testcase classname="t" name="d"><skipped/></testcase>'
    )
    assert junit.read(data) == [("t::a", "passed"), ("t::b", "failed"), ("t::c", "error"), ("t::d", "skipped")]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PASSED",
        report(""),
        report('<testcase classname="t" name="a"/>' * 2),
        b'<!DOCTYPE x [<!ENTITY a "b">]>' + report('<testcase classname="t" name="&a;"/>'),
        '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE x><testcase/>'.encode("utf-16"),
        b" " * junit.LIMIT,
    ],
)
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="the report"):
        junit.read(data)


@given(st.binary(max_size=200))
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    with pytest.raises(ValueError, match="the report"):
        junit.read(data)

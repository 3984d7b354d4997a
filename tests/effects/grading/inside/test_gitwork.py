"""Reading git's numbers and quoting paths for it."""

from __future__ import annotations

from bench.effects.grading.inside import gitwork


def test_numbers_of_files_renames_and_binaries() -> None:
    numstat = b"3\t1\ta b\tc\0-\t-\tx.bin\0" + b"2\t0\t\0old\0new\0" + b"0\t7\tgone\0"
    assert gitwork.churn(numstat) == {"files": 4, "insertions": 5, "deletions": 8}
    assert gitwork.churn(b"") == {"files": 0, "insertions": 0, "deletions": 0}


def test_paths_are_quoted_for_fast_import() -> None:
    assert gitwork.quoted(b'a "b"\\\nc\xff') == b'"a \\"b\\"\\\\\\nc\xff"'

"""Output of a verifier, rid of what changes from run to run, so that a cell made again is the same cell.

Durations, dates, addresses, temporary names and rulers go; what a person needs to see a failure stays. Nothing is judged
from this text.
"""

from __future__ import annotations

import re

TAIL = 4000
"""Characters of authored test output that a row keeps (spec 1.4)."""
_RULES = [
    (re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]"), ""),
    (re.compile(r"\r\n?"), "\n"),
    (re.compile(r"\b0x[0-9a-fA-F]{4,}\b"), "0x…"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([.,]\d+)?(Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b[12]\d{9}(\.\d+)?\b"), "<time>"),
    (re.compile(r"\b\d{1,2}:\d\d:\d\d([.,]\d+)?\b"), "<time>"),
    (re.compile(r"\b\d+([.,]\d+)?(e-?\d+)? ?(ns|us|µs|μs|ms|s|secs?|seconds?|minutes?|min)\b"), "<time>"),
    (re.compile(r"(/tmp/)[^\s'\",:;)\]]+"), r"\1…"),
    (re.compile(r"\b(pid|PID|process|thread)([ =:#]+)\d+"), r"\1\2…"),
    (re.compile(r"([=_*~-])\1{3,}"), r"\1\1\1"),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
]


def tail(data: bytes) -> str:
    """The last TAIL characters of some output, steadied; undecodable bytes and control characters are replaced."""
    # Enough is kept before the rules for them to shorten, and a torn first line goes.
    cut = data[-TAIL * 8 :]
    text = cut.decode("utf-8", "replace")
    if len(cut) < len(data):
        text = text.partition("\n")[2]
    for rule, by in _RULES:
        text = rule.sub(by, text)
    text = "".join(c if c >= " " or c in "\n\t" else "\ufffd" for c in text)
    return text.strip()[-TAIL:]

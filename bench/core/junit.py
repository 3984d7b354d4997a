"""A JUnit XML report as a command oracle may leave it: test ids and outcomes. Bounded, no entities, nothing else is read."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

LIMIT = 4 << 20
"""Bytes."""
_DOCTYPE = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


def read(data: bytes) -> list[tuple[str, str]]:
    """[(`classname::name`, passed | failed | error | skipped)] in the order of the report.

    Raises ValueError for anything that is no such report, repeats a test, or is larger than LIMIT.
    """
    if len(data) >= LIMIT:
        raise ValueError("the report is too large")
    if _DOCTYPE.search(data) or b"\0" in data:  # a NUL: UTF-16, in which a declaration would not be seen
        raise ValueError("the report declares entities")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise ValueError(f"the report is no XML: {error}") from None
    found: dict[str, str] = {}
    for case in root.iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        if name in found:
            raise ValueError("the report names a test twice")
        found[name] = _outcome(case)
    if not found:
        raise ValueError("the report names no test")
    return list(found.items())


def _outcome(case: ElementTree.Element) -> str:
    tags = {child.tag for child in case}
    for tag, outcome in (("error", "error"), ("failure", "failed"), ("skipped", "skipped")):
        if tag in tags:
            return outcome
    return "passed"

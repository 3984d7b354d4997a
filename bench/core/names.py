"""Names: of suites, tasks and arms, which become parts of paths and of step names, and relative paths in corpus files.

A name that would be awkward on any system is refused here, once, so that no later code has to escape anything.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from bench.core import relpath
from bench.errors import CorpusError

NAME_BYTES = 128
FORBIDDEN = "/=*?[\\"
"""Path separators; what doit reads as a variable or a pattern."""
UNSEEN = {"Cc": "a control character", "Cf": "an invisible character", "Cs": "half a surrogate pair"}
UNSEEN |= {"Zl": "a line separator", "Zp": "a paragraph separator"}
SHOWN = 60


def check(name: str, where: str) -> str:
    """The name itself, when it may be one; `where` names file, line and key in the CorpusError otherwise."""
    fault = name_fault(name)
    if fault:
        raise CorpusError(f"the name {shown(name)} {fault}", where=where, remedy="choose another name")
    return name


def name_fault(name: str) -> str | None:
    """Why a name cannot be one, as a verb phrase, or None."""
    if not name.strip():
        return "is blank"
    unseen = _unseen(name)
    if unseen:
        return f"contains {unseen}"
    if len(name.encode()) > NAME_BYTES:
        return f"is longer than {NAME_BYTES} bytes"
    if not unicodedata.is_normalized("NFC", name):
        return "is not in Unicode normal form C"
    if name in (".", ".."):
        return "is a directory's"
    if name.startswith("-"):
        return "starts with '-', like an option"
    if name != name.strip():
        return "starts or ends with white space"
    found = next((c for c in name if c in FORBIDDEN), None)
    return f"contains {found!r}" if found else None


def distinct(names: Iterable[tuple[str, str]]) -> None:
    """Refuse two names that are equal, or would be on a file system that ignores case. Pairs of (name, where)."""
    seen: dict[str, tuple[str, str]] = {}
    for name, where in names:
        folded = unicodedata.normalize("NFC", name.casefold())
        other = seen.get(folded)
        if other is None:
            seen[folded] = (name, where)
            continue
        what = "is used twice" if other[0] == name else f"differs from {shown(other[0])} in case alone"
        raise CorpusError(f"the name {shown(name)} {what} (first at {other[1]})", where=where, remedy="rename one of them")


def check_path(path: str, where: str, *, root: bool = False) -> str:
    """The path itself: relative, `/`-separated, inside its root, at most 240 bytes; `root` allows `.`.

    Raises CorpusError naming what is wrong.
    """
    fault = None if root and path == "." else relpath.fault(path) or _odd(path)
    if fault:
        raise CorpusError(f"the path {shown(path)} {fault}", where=where, remedy="give a relative path inside its directory")
    return path


def _odd(path: str) -> str | None:
    if path.startswith(("-", "~")):
        return f"starts with {path[0]!r}"
    if path[1:2] == ":":
        return "starts like a drive"
    unseen = _unseen(path)
    return f"contains {unseen}" if unseen else None


def shown(text: str) -> str:
    """A value as messages quote it: short, escaped, on one line."""
    cut = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    return ascii(cut) if _unseen(cut) else repr(cut)


def _unseen(text: str) -> str | None:
    if text.isascii() and text.isprintable():
        return None
    return next((UNSEEN[k] for k in map(unicodedata.category, text) if k in UNSEEN), None)

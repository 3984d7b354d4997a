"""Did-you-mean: the known word nearest to an unknown one. Never decides anything, only words a remedy."""

from __future__ import annotations

from collections.abc import Iterable

SHOWN = 12
"""At most so many known words are listed in a remedy."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`, case aside, or None when nothing is close."""
    import difflib  # on the way of an error only

    folded = {k.casefold(): k for k in sorted(known, reverse=True)}
    found = difflib.get_close_matches(word[:128].casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def remedy(word: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?`, else the list of what is known."""
    known = sorted(set(known))
    near = nearest(word, known)
    if near is not None:
        return f"did you mean {near!r}?"
    if not known:
        return "there is none"
    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    return f"known: {', '.join(known[:SHOWN])}{more}"

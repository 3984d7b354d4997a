"""Which files of the working tree a promoted overlay replaces: the skill's own, and its mirrors elsewhere in the tree.

Each file of an overlay stands for one canonical file below the arm's skill directory and one in every mirror that carries
the skill (spec 5.3). All must be there already with the bytes that the incumbent was measured with: an overlay that adds a
file has no base to compare with, and is refused. Pure: paths and bytes are given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.core import skills
from bench.core.names import shown
from bench.core.suite import Mirror
from bench.errors import ApplyFailed


@dataclass(frozen=True, slots=True)
class Target:
    """One file to replace: where, by what, and what must be there."""

    path: str
    base: bytes
    new: bytes


def targets(
    overlay: Mapping[str, bytes], base: Mapping[str, bytes], homes: Mapping[str, str], mirrors: Sequence[Mirror]
) -> list[Target]:
    """Every file to replace, sorted by path.

    overlay, base: `<skill>/<path>` → bytes; homes: skill → its directory in the working tree. Files that the overlay
    does not change are left out. Raises ApplyFailed for files without a base, for two targets with one path, when nothing
    would change.
    """
    added = sorted(path for path in overlay if path not in base)
    if added:
        what = f"NOT PROMOTED: the overlay adds {', '.join(map(shown, added))}, which the incumbent does not have"
        raise ApplyFailed(what, where=skills.OVERLAY, remedy="commit the new files to the incumbent skill and measure again")
    found: dict[str, Target] = {}
    for path, new in overlay.items():
        if new == base[path]:
            continue
        for place in places(path, homes, mirrors):
            target = Target(place, base[path], new)
            if found.setdefault(target.path, target) is not target:
                raise ApplyFailed("is named twice, as a skill and as a mirror or by two mirrors", where=target.path)
    if not found:
        raise ApplyFailed("NOT PROMOTED: the overlay changes nothing", where=skills.OVERLAY)
    return [found[path] for path in sorted(found)]


def places(path: str, homes: Mapping[str, str], mirrors: Sequence[Mirror]) -> list[str]:
    """Where `<skill>/<path>` lies in the working tree: in the skill's own directory, then in each mirror that carries it."""
    skill, _, inner = path.partition("/")
    folders = [homes[skill], *(f"{m.folder}/{skill}" for m in mirrors if m.skills is None or skill in m.skills)]
    return [f"{folder}/{inner}" for folder in folders]

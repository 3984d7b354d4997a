"""An overlay's files are mapped to the skill's own place and to every mirror that carries the skill."""

from __future__ import annotations

import pytest

from bench.core.suite import Mirror
from bench.core.targets import targets
from bench.errors import ApplyFailed

BASE = {"hunt/SKILL.md": b"old", "hunt/notes.md": b"same", "review/SKILL.md": b"old review"}
HOMES = {"hunt": "corpus/skills/hunt", "review": "corpus/skills/review"}


def test_skill_and_mirrors_each_get_the_file() -> None:
    mirrors = [Mirror("plugin/skills"), Mirror("cursor/skills", frozenset({"review"}))]
    overlay = {"hunt/SKILL.md": b"new", "hunt/notes.md": b"same", "review/SKILL.md": b"new review"}
    found = targets(overlay, BASE, HOMES, mirrors)
    assert [(t.path, t.base, t.new) for t in found] == [
        ("corpus/skills/hunt/SKILL.md", b"old", b"new"),
        ("corpus/skills/review/SKILL.md", b"old review", b"new review"),
        ("cursor/skills/review/SKILL.md", b"old review", b"new review"),
        ("plugin/skills/hunt/SKILL.md", b"old", b"new"),
        ("plugin/skills/review/SKILL.md", b"old review", b"new review"),
    ]


def test_a_new_file_in_an_overlay_is_not_promoted() -> None:
    """Failure mode 35."""
    with pytest.raises(ApplyFailed, match=r"NOT PROMOTED: the overlay adds 'hunt/more\.md'"):
        targets({"hunt/SKILL.md": b"new", "hunt/more.md": b"x"}, BASE, HOMES, [])


def test_a_mirror_that_is_the_skill_itself_is_refused() -> None:
    with pytest.raises(ApplyFailed, match="named twice"):
        targets({"hunt/SKILL.md": b"new"}, BASE, HOMES, [Mirror("corpus/skills")])


def test_an_overlay_without_a_change_is_refused() -> None:
    with pytest.raises(ApplyFailed, match="changes nothing"):
        targets({"hunt/SKILL.md": b"old"}, BASE, HOMES, [])

"""An overlay's files are mapped to the skill's own place and to every mirror that carries the skill."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


SKILLS = ["hunt", "review", "mend"]
FILES = st.builds("{}/{}".format, st.sampled_from(SKILLS), st.sampled_from(["SKILL.md", "notes.md", "a/b.md"]))
MIRRORS = st.lists(
    st.builds(Mirror, st.sampled_from(["plugin", "cursor", "third"]), st.none() | st.frozensets(st.sampled_from(SKILLS))),
    unique_by=lambda mirror: mirror.folder,
)


@given(st.dictionaries(FILES, st.sampled_from([b"old", b"new", b"newer"]), min_size=1), MIRRORS)
def test_each_change_reaches_its_home_and_every_mirror_of_its_skill_and_nothing_else(
    overlay: dict[str, bytes], mirrors: list[Mirror]
) -> None:
    base = dict.fromkeys(overlay, b"old")
    homes = {skill: f"corpus/skills/{skill}" for skill in SKILLS}
    changed = {path: new for path, new in overlay.items() if new != b"old"}
    if not changed:
        with pytest.raises(ApplyFailed, match="changes nothing"):
            targets(overlay, base, homes, mirrors)
        return
    wanted = {}
    for path, new in changed.items():
        carrying = [m.folder for m in mirrors if m.skills is None or path.partition("/")[0] in m.skills]
        wanted |= {f"{folder}/{path}": new for folder in ("corpus/skills", *carrying)}
    found = targets(overlay, base, homes, mirrors)
    assert {target.path: target.new for target in found} == wanted
    assert [target.path for target in found] == sorted(wanted)
    assert all(target.base == b"old" for target in found)
    with pytest.raises(ApplyFailed, match="which the incumbent does not have"):
        targets(overlay, {path: data for path, data in base.items() if path != min(overlay)}, homes, mirrors)

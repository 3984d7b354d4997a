from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import skills
from bench.core.skills import Described
from bench.errors import CorpusError

GREET = b"---\nname: greet\ndescription: >\n  Says hello,\n  politely.\n---\n# Greet\n"


def test_front_matter_is_read() -> None:
    assert skills.describe("greet", GREET) == Described("greet", "Says hello, politely.")
    assert skills.describe("greet", GREET.replace(b"\n", b"\r\n")) == Described("greet", "Says hello, politely.")
    assert skills.describe("greet", b"\xef\xbb\xbf" + GREET).name == "greet"


def test_what_stands_beside_the_two_keys_is_the_authors() -> None:
    said = "name: greet\ndescription: d\ndate: 2026-13-01\nversion: 1.0\nmetadata: {tags: [a, b]}\nallowed-tools: Read"
    assert skills.describe("greet", front(said)) == Described("greet", "d")


def front(text: str) -> bytes:
    return f"---\n{text}\n---\nbody\n".encode()


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        (b"# Greet\n", "no YAML front matter"),
        (b"", "no YAML front matter"),
        (b"---\nname: greet\n", "no YAML front matter"),
        (b"\xff\xfe", "not UTF-8"),
        (front("- a"), "no mapping"),
        (front(""), "no mapping"),
        (front("a: b: c"), "not YAML"),
        (front("name: greet\na: b: c"), r"SKILL.md:3:5: not YAML"),
        (front("name: !!python/object:os.system {}"), "the tag .* is not allowed"),
        (front("name: greet\nname: greet\ndescription: d"), r"SKILL.md:3:1: the key 'name' stands twice"),
        (front('version: !!int ""'), "is not a number"),
        (front("version: !!bool x"), "is neither true nor false"),
        (front("version: !!timestamp x"), "the tag .* is not allowed"),
        (front("version: 1" + ":59" * 400), "is not a number"),
        (front("version: " + "[" * 3000), "nest"),
        (front("description: d"), "name None"),
        (front("name: Greet\ndescription: d"), "name 'Greet'"),
        (front("name: greet-\ndescription: d"), "name 'greet-'"),
        (front("name: hello\ndescription: d"), "not that of its directory"),
        (front("name: greet"), "description is missing"),
        (front("name: greet\ndescription: ' '"), "description is missing"),
        (front("name: greet\ndescription: [a]"), "description is missing"),
        (front("name: greet\ndescription: " + "x" * 1025), "longer than 1024"),
        (front("name: greet\ndescription: d\nx: " + "x" * (16 << 10)), "front matter is longer"),
    ],
)
def test_a_wrong_manifest_is_refused_in_one_line(manifest: bytes, why: str) -> None:
    with pytest.raises(CorpusError, match=why) as refused:
        skills.describe("greet", manifest)
    assert str(refused.value).startswith("greet/SKILL.md:")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["overlay", "Greet", "a--b", "-a", "a_b", "x" * 65, ""])
def test_a_directory_that_is_no_skill_name_is_refused(name: str) -> None:
    with pytest.raises(CorpusError):
        skills.check_skill(name, {"SKILL.md": GREET})


def test_a_skill_is_bounded() -> None:
    skills.check_skill("greet", {"SKILL.md": GREET} | {f"a/{n}": b"" for n in range(255)})
    for files in (
        {},
        {"skill.md": GREET},
        {"SKILL.md": GREET} | {f"a/{n}": b"" for n in range(256)},
        {"SKILL.md": GREET, "big": b"x" * (4 << 20)},
        {"SKILL.md": GREET, "../x": b""},
        {"SKILL.md": GREET, "x" * 513: b""},
        {"SKILL.md": GREET, "a": b"", "A": b""},
    ):
        with pytest.raises(CorpusError):
            skills.check_skill("greet", files)


def nested(count: int) -> dict[str, bytes]:
    """`count` files, each in a directory of its own below greet/."""
    return {f"greet/{n}/a.md": b"x" for n in range(count)}


def test_an_overlay_is_placed_with_or_without_the_prefix_of_the_reference() -> None:
    assert skills.check_overlay({"greet/SKILL.md": b"x"}, ["greet"]) == {"greet/SKILL.md": b"x"}
    assert skills.check_overlay({".claude/skills/greet/a/B.MD": b"x"}, ["greet"]) == {"greet/a/B.MD": b"x"}


@pytest.mark.parametrize(
    "files",
    [
        {f"greet/{n}.md": b"" for n in range(64)},
        {"greet/" + "x" * (512 - 9) + ".md": b""},
        {"greet/a.md": b"x" * (4 << 20)},
        # 62 files, 62 + 62 + 62 + 1 directories below the one of the skill: 249 entries
        {f"greet/{n}/b/c/a.md": b"" for n in range(62)},
    ],
)
def test_an_overlay_at_its_limits_passes(files: dict[str, bytes]) -> None:
    assert skills.check_overlay(files, ["greet"]) == files


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "is empty"),
        ({f"greet/{n}.md": b"" for n in range(65)}, "65 files"),
        ({"greet/" + "x" * (512 - 8) + ".md": b""}, "longer than 512"),
        ({"greet/a.md": b"x" * ((4 << 20) + 1)}, "together"),
        ({f"greet/{n}/b/c/d/a.md": b"" for n in range(52)}, "more than 256 directory entries"),
        ({"greet/run.sh": b""}, "not Markdown"),
        ({"greet/md": b""}, "not Markdown"),
        ({"other/a.md": b""}, "not inside a skill of this arm"),
        ({"a.md": b""}, "not inside a skill of this arm"),
        ({".claude/skills/other/a.md": b""}, "not inside a skill of this arm"),
        ({"greet/../a.md": b""}, "holds an empty part"),
        ({"greet/a.md": b"", ".claude/skills/greet/a.md": b""}, "stands twice"),
        ({"greet/a.md": b"", "greet/A.md": b""}, "clash"),
    ],
)
def test_an_overlay_beyond_the_rules_is_refused(files: dict[str, bytes], why: str) -> None:
    with pytest.raises(CorpusError, match=why):
        skills.check_overlay(files, ["greet"])


def test_an_overlay_replaces_and_adds() -> None:
    base = {"greet/SKILL.md": b"1", "greet/run.sh": b"#!"}
    assert skills.lay_over(base, {"greet/SKILL.md": b"2", "greet/b.md": b"3"}) == {
        "greet/SKILL.md": b"2",
        "greet/run.sh": b"#!",
        "greet/b.md": b"3",
    }


def test_an_overlay_that_changes_nothing_is_refused() -> None:
    base = {"greet/SKILL.md": b"1", "greet/b.md": b"2"}
    with pytest.raises(CorpusError, match="byte-identical to the incumbent"):
        skills.lay_over(base, {"greet/SKILL.md": b"1"})
    assert skills.lay_over(base, {"greet/SKILL.md": b"1", "greet/b.md": b"3"})["greet/b.md"] == b"3"


def test_an_overlay_cannot_put_a_file_where_a_directory_is() -> None:
    with pytest.raises(CorpusError, match="clash"):
        skills.lay_over({"greet/a.md/x": b""}, {"greet/a.md": b""})


@given(
    st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda t: f"---\n{t}\n---\n".encode("utf-8", "replace")))
)
def test_any_manifest_is_described_or_refused_in_words(manifest: bytes) -> None:
    try:
        said = skills.describe("greet", manifest)
    except CorpusError:
        return
    assert said.name == "greet"
    assert said.description == " ".join(said.description.split())

from __future__ import annotations

from pathlib import Path

import pytest

from bench.core import digest
from bench.effects import trees
from bench.effects.context import Context, Made
from bench.errors import CorpusError
from bench.steps import skill
from tests.steps.making import context_at, job_of

GREET = b"---\nname: greet\ndescription: Says hello.\n---\n# Greet\n"
PART = b"---\nname: part\ndescription: Says goodbye.\n---\n"
BASE = {"greet/SKILL.md": GREET, "greet/scripts/run.sh": b"#!/bin/sh\n", "greet/data.csv": b"a,b\n", "part/SKILL.md": PART}


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return context_at(tmp_path)


def make(context: Context, files: dict[str, bytes], *, names: list[str] | None = None, overlay: bool = False) -> Made:
    params = {"skills": ["greet", "part"] if names is None else names, "overlay": overlay}
    return skill.make(job_of("skill", context, params, files), context)


def tree(context: Context, made: Made) -> dict[str, trees.Entry]:
    return {entry.path: entry for entry in trees.entries_of(context.store.get(made.outputs["tree"].blob))}


def test_skills_are_described_and_packed(context: Context) -> None:
    made = make(context, BASE)
    assert made.body["skills"] == [
        {"name": "greet", "description": "Says hello.", "files": ["SKILL.md", "data.csv", "scripts/run.sh"]},
        {"name": "part", "description": "Says goodbye.", "files": ["SKILL.md"]},
    ]
    found = tree(context, made)
    assert {path: entry.data for path, entry in found.items()} == BASE
    assert found["greet/scripts/run.sh"].mode == "100755"
    assert found["greet/data.csv"].mode == "100644"
    assert made.body["digest"] == trees.tree_digest(found.values())


def test_the_same_skills_make_the_same_record_whatever_their_order(context: Context, tmp_path: Path) -> None:
    one = make(context, BASE)
    other = make(context_at(tmp_path / "elsewhere"), dict(reversed(BASE.items())), names=["part", "greet"])
    assert digest.canonical(one.body) == digest.canonical(other.body)
    assert one.outputs == other.outputs


def test_an_overlay_is_laid_over(context: Context) -> None:
    changed = GREET.replace(b"Says hello.", b"Says hello twice.")
    made = make(context, BASE | {"overlay/greet/SKILL.md": changed, "overlay/greet/more.md": b"more"}, overlay=True)
    assert made.body["skills"][0]["description"] == "Says hello twice."
    found = tree(context, made)
    assert found["greet/SKILL.md"].data == changed
    assert found["greet/more.md"].data == b"more"
    assert found["greet/data.csv"].data == b"a,b\n"
    assert not [path for path in found if path.startswith("overlay")]


def test_an_overlay_of_the_reference_s_layout_gives_the_same_tree(context: Context) -> None:
    ours = make(context, BASE | {"overlay/greet/more.md": b"more"}, overlay=True)
    theirs = make(context, BASE | {"overlay/.claude/skills/greet/more.md": b"more"}, overlay=True)
    assert ours.body == theirs.body


@pytest.mark.parametrize(
    ("files", "names", "overlay", "why"),
    [
        (BASE, ["greet"], False, "not inside a skill of this arm"),
        (BASE, ["greet", "part", "third"], False, r"has no SKILL\.md"),
        (BASE, ["greet", "greet"], False, "none or named twice"),
        (BASE, [], False, "none or named twice"),
        (BASE, None, True, "overlay is empty"),
        (BASE | {"overlay/greet/a.md": b""}, None, False, "files of an overlay without one"),
        (BASE | {"overlay/greet/SKILL.md": GREET}, None, True, "byte-identical"),
        (BASE | {"overlay/greet/SKILL.md": b"no front matter"}, None, True, "no YAML front matter"),
        (BASE | {"overlay/greet/scripts/run.sh": b""}, None, True, "not Markdown"),
        (BASE | {"overlay/third/SKILL.md": b""}, None, True, "not inside a skill"),
    ],
)
def test_what_breaks_a_rule_is_refused(
    context: Context, files: dict[str, bytes], names: list[str] | None, overlay: bool, why: str
) -> None:
    with pytest.raises(CorpusError, match=why):
        make(context, files, names=names, overlay=overlay)


MANIFEST = b'{"name": "mine", "version": "1.2.0", "hooks": {}}'
PLUGIN = {"plugin/.claude-plugin/plugin.json": MANIFEST, "plugin/skills/plan/SKILL.md": GREET.replace(b"greet", b"plan")}


def with_plugin(context: Context, names: list[str], expects: list[str], files: dict[str, bytes]) -> Made:
    params = {"skills": names, "overlay": False, "plugin": {"version": "1.2.0", "expects": expects}}
    return skill.make(job_of("skill", context, params, files), context)


def test_a_plugin_is_a_tree_of_its_own(context: Context) -> None:
    made = with_plugin(context, [], ["plan"], PLUGIN)
    assert set(made.outputs) == {"plugin"}
    packed = trees.entries_of(context.store.get(made.outputs["plugin"].blob))
    assert [entry.path for entry in packed] == [".claude-plugin/plugin.json", "skills/plan/SKILL.md"]
    assert made.body["skills"] == []
    assert made.body["plugin"] == {
        "name": "mine",
        "version": "1.2.0",
        "manifest_digest": trees.tree_digest(packed),
        "files": 2,
        "bytes": sum(len(entry.data) for entry in packed),
        "skills": [{"name": "plan", "description": "Says hello."}],
        "left_out": ["hooks"],
    }


def test_a_plugin_may_stand_beside_skills(context: Context) -> None:
    made = with_plugin(context, ["greet", "part"], ["greet", "mine:plan"], BASE | PLUGIN)
    assert set(made.outputs) == {"plugin", "tree"}
    assert make(context, BASE).body == {key: value for key, value in made.body.items() if key != "plugin"}


def test_a_plugin_without_the_expected_skill_is_refused(context: Context) -> None:
    with pytest.raises(CorpusError, match="no skill 'work', which the arm expects"):
        with_plugin(context, [], ["work"], PLUGIN)

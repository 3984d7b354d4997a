"""`overlay=DIR` benchmarks a hand-made overlay; one that does not fit the arms is refused before anything runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.errors import CorpusError, UsageError
from bench.make import rows
from bench.make.pipeline import Pipeline
from tests.make import workspaces

MINE, INSTALLED = "candidates/mine/work", "candidates/mine/.claude/skills/work"

SKILL = "---\nname: {0}\ndescription: {0} things\n---\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    def arm(name: str, skills: list[str], **more: Any) -> dict[str, Any]:
        return {"name": name, "role": "incumbent", "engine": "loop", "skills": skills} | more

    arms = [
        workspaces.ARMS[0],
        arm("both", ["skills/plan", "skills/work"]),
        arm("one", ["skills/work"]),
        {"name": "new_both", "role": "candidate", "of": "both", "overlay": "candidates/mine"},
        {"name": "new_one", "role": "candidate", "of": "one", "overlay": "candidates/mine"},
    ]
    workspaces.write(tmp_path, model="anthropic/claude-sonnet-4-5", arms=arms)
    for skill in ("plan", "work"):
        workspaces.put(tmp_path, f"corpus/skills/{skill}/SKILL.md", SKILL.format(skill))
    workspaces.put(tmp_path, "corpus/candidates/mine/work/SKILL.md", SKILL.format("work") + "Better.\n")
    return tmp_path


def loaded(root: Path, **given: str) -> Pipeline:
    from bench.make import workspace

    workspace._INDEXES.clear()
    pipeline = Pipeline(root, ["suite:tiny"], given)
    pipeline.check_ready(["tiny"])
    return pipeline


def skill_files(pipeline: Pipeline) -> dict[str, set[str]]:
    return {name: {role for role in files if role.startswith("overlay/")} for name, _, files in rows.skills(pipeline)}


def test_each_arm_gets_the_files_of_its_own_skills(root: Path) -> None:
    workspaces.put(root, "corpus/candidates/mine/plan/SKILL.md", SKILL.format("plan") + "Better.\n")
    found = skill_files(loaded(root))
    assert found["tiny/new_both"] == {"overlay/plan/SKILL.md", "overlay/work/SKILL.md"}
    assert found["tiny/new_one"] == {"overlay/work/SKILL.md"}
    assert found["tiny/one"] == set()


def test_an_untouched_pair_is_refused_before_anything_runs(root: Path) -> None:
    (root / "corpus/candidates/mine/work").rename(root / "corpus/candidates/mine/plan")
    with pytest.raises(CorpusError, match="candidates/mine: it touches no skill of the arm 'new_one'"):
        loaded(root)


def test_a_hand_made_overlay_takes_the_place_of_the_suites(root: Path) -> None:
    workspaces.put(root, "drafts/plan/SKILL.md", SKILL.format("plan") + "Best.\n")
    pipeline = loaded(root, overlay="drafts")
    assert [arm.name for arm in pipeline.suites["tiny"].arms] == ["nop", "both", "new_both"]
    files = {name: files for name, _, files in rows.skills(pipeline)}
    assert files["tiny/new_both"]["overlay/plan/SKILL.md"] == "drafts/plan/SKILL.md"


def test_an_overlay_may_lie_below_the_users_home(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    workspaces.put(home, "drafts/plan/SKILL.md", SKILL.format("plan") + "Best.\n")
    files = {name: files for name, _, files in rows.skills(loaded(root, overlay="~/drafts"))}
    assert files["tiny/new_both"]["overlay/plan/SKILL.md"] == "home/drafts/plan/SKILL.md"


def test_an_overlay_that_can_be_laid_is_read_and_let_through(root: Path) -> None:
    workspaces.put(root, f"corpus/{INSTALLED}/notes/more.MD", "More.\n")
    loaded(root)


SIZE = "x" * (4 << 20)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"work/run.py": "pass"}, f"{MINE}/run.py: is not Markdown"),
        ({f"work/{n}.md": "x" for n in range(64)}, "candidates/mine: has 65 files, the limit is 64"),
        ({f"work/{n}/a/b/c/d.md": "x" for n in range(60)}, "candidates/mine: has more than 256 directory entries"),
        ({"work/a.md": SIZE}, "candidates/mine: its files hold more than 4194304 bytes"),
        ({"work/a.md": SIZE + "x"}, f"{MINE}/a.md: holds 4194305 bytes"),
        ({"work/SKILL.md": SKILL.format("work")}, "candidates/mine: is byte-identical to the incumbent"),
        ({"work/SKILL.md": "Better."}, "candidates/mine/work/SKILL.md: has no YAML front matter"),
        ({"work/SKILL.md": SKILL.format("play")}, "candidates/mine/work/SKILL.md: name 'play' is not that of its directory"),
        ({"work/SKILL.MD": "x", "work/notes.md": "y"}, "candidates/mine: two paths clash"),
        ({"plan/SKILL.md": SKILL.format("plan")}, "candidates/mine: is byte-identical"),
    ],
    ids=lambda said: said if isinstance(said, str) else "",
)
@pytest.mark.parametrize("given", [{}, {"overlay": "corpus/candidates/mine"}], ids=["of the suite", "hand-made"])
def test_an_overlay_that_breaks_a_rule_is_refused_before_anything_runs(
    root: Path, files: dict[str, str], said: str, given: dict[str, str]
) -> None:
    """Spec 2.9: it would be found by the skill step, when the incumbent's sessions were paid for."""
    if "plan/SKILL.md" in files:  # it changes one of the arms, and nothing of the other's skill
        suite = json.loads((root / "corpus/tiny.yaml").read_text())
        suite["arms"][2]["skills"] = ["skills/plan"]
        workspaces.put(root, "corpus/tiny.yaml", json.dumps(suite))
    for path, text in files.items():
        workspaces.put(root, f"corpus/candidates/mine/{path}", text)
    with pytest.raises(CorpusError, match=said):
        loaded(root, **given)


def test_a_skill_that_an_overlay_cannot_be_laid_over_is_named(root: Path) -> None:
    (root / "corpus/skills/work/SKILL.md").rename(root / "corpus/skills/work/READ.md")
    with pytest.raises(CorpusError, match="skill work: has no SKILL"):
        loaded(root)


@pytest.mark.slow
def test_no_session_runs_where_an_overlay_cannot_be_laid(tmp_path: Path) -> None:
    bench = workspaces.Bench(workspaces.promoted(tmp_path))
    bench.path("corpus/candidates/mend/mend/run.py").write_text("pass")
    done = bench.doit()
    assert (done.code, done.did) == (2, {}), done.stdout
    assert "corpus/candidates/mend/mend/run.py: is not Markdown; an overlay holds .md files alone" in done.stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"overlay": "nowhere"}, "overlay=nowhere: is not a directory"),
        ({"overlay": "corpus/skills/plan"}, "no candidate arm of the suite"),
        ({"overlay": "corpus/candidates/mine", "arms": "one,new_one"}, "arms=: the overlay has to be measured on exactly"),
        ({"overlay": "-x"}, "is not a path"),
    ],
)
def test_what_cannot_be_measured_is_named(root: Path, given: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        loaded(root, **given)

"""Arms with a plugin through the real `doit`: named on the command line, both or neither, for those arms alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.make import workspaces
from tests.make.workspaces import Bench, put

ARMS = [
    *workspaces.ARMS,
    {"name": "theirs", "role": "comparator", "engine": "claude", "plugin": {}, "expects": "mend"},
    {"name": "plain", "role": "comparator", "engine": "claude"},
]
MANIFEST = '{"name": "theirs", "version": "1.2.0", "hooks": "./hooks.json"}'
GIVEN = ("plugin_dir=vendor/theirs", "plugin_version=1.2.0")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = workspaces.write(tmp_path / "w", arms=ARMS, model="replay/none")
    put(root, "corpus/cassettes/none.json", '{"model": "anthropic/claude-sonnet-4-5"}')
    put(root, "vendor/theirs/.claude-plugin/plugin.json", MANIFEST)
    put(root, "vendor/theirs/skills/mend/SKILL.md", workspaces.SKILL)
    put(root, "vendor/theirs/hooks.json", "{}")
    return Bench(root)


def test_the_command_line_says_which_plugin(bench: Bench):
    done = bench.doit("skill:tiny/theirs", *GIVEN)
    assert done.code == 0, done.stderr
    record = bench.record("artifacts/skills/tiny/theirs.json")
    plugin = record["body"]["plugin"]
    assert (plugin["name"], plugin["version"], plugin["files"], plugin["left_out"]) == ("theirs", "1.2.0", 2, ["hooks"])
    assert set(record["outputs"]) == {"plugin"}
    assert str(bench.root) not in bench.path("artifacts/skills/tiny/theirs.json").read_text()
    assert bench.moving("skill:tiny/theirs", *GIVEN) == {}
    bench.edit("vendor/theirs/skills/mend/SKILL.md", "then change", "then think")
    assert bench.moving("skill:tiny/theirs", *GIVEN) == {"skill:tiny/theirs": "build"}
    bench.edit("vendor/theirs/hooks.json", "{}", "{ }")
    bench.edit("vendor/theirs/skills/mend/SKILL.md", "then think", "then change")
    assert bench.moving("skill:tiny/theirs", *GIVEN) == {}


def test_no_other_arm_has_it(bench: Bench):
    planned = bench.plan("suite:tiny", *GIVEN)
    assert [step for step in planned if step.startswith("skill:")] == ["skill:tiny/theirs"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "the arm 'theirs' runs with a plugin, and neither it nor the command line says which"),
        (GIVEN[:1], "plugin_dir=: needs plugin_version= beside it"),
        (GIVEN[1:], "plugin_version=: needs plugin_dir= beside it"),
        (("plugin_dir=vendor/theirs", "plugin_version=1.3.0"), "the manifest's version is '1.2.0', and not '1.3.0'"),
        (("plugin_dir=vendor", "plugin_version=1.2.0"), "is not a plugin"),
        (("plugin_dir=nowhere", "plugin_version=1.2.0"), "there is no such directory"),
    ],
)
def test_what_cannot_run_is_refused_as_bad_input(bench: Bench, words: tuple[str, ...], said: str):
    done = bench.doit("suite:tiny", *words, "arms=theirs,nop")
    assert (done.code, said in done.stdout + done.stderr) == (2, True), done.stdout + done.stderr
    assert not list(bench.root.glob("artifacts/*/*.json"))


def test_a_link_in_a_plugin_is_refused_before_anything_runs(bench: Bench):
    bench.path("vendor/theirs/skills/mend/more.md").symlink_to("/etc/hostname")
    done = bench.doit("suite:tiny", *GIVEN, "arms=theirs")
    assert done.code == 2
    assert "links and special files are not allowed here" in done.stderr

import pytest

from bench.effects import plugins
from bench.errors import CorpusError


def make(folder, *paths):
    for path in (plugins.MANIFEST, *paths):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(b"{}")
    return folder


def test_manifests_skills_scripts_and_assets_are_listed_and_nothing_else(tmp_path):
    shown = ["skills/a/SKILL.md", "scripts/run.sh", "assets/deep/logo.svg", ".claude-plugin/marketplace.json"]
    make(tmp_path / "corpus/plugins/p", *shown, "hooks/hooks.json", "agents/x.md", "commands/y.md", ".mcp.json", "README.md")
    found = plugins.listed("plugins/p", tmp_path)
    assert list(found) == sorted([*shown, plugins.MANIFEST])
    assert found["scripts/run.sh"] == "corpus/plugins/p/scripts/run.sh"


def test_a_plugin_may_lie_outside_of_the_workspace(tmp_path):
    home = make(tmp_path / "elsewhere", "skills/a/SKILL.md")
    found = plugins.listed(str(home), tmp_path / "root")
    assert found["skills/a/SKILL.md"] == f"{home}/skills/a/SKILL.md"
    make(tmp_path / "root" / "mine")
    assert plugins.listed("../mine", tmp_path / "root") == {plugins.MANIFEST: f"mine/{plugins.MANIFEST}"}


@pytest.mark.parametrize("part", ["skills", "scripts/a", ".claude-plugin/plugin.json"])
def test_a_link_is_refused(tmp_path, part):
    home = make(tmp_path / "corpus/p", "skills/a/SKILL.md", "scripts/b")
    target = home / part
    kept = tmp_path / "kept"
    target.rename(kept) if target.exists() else kept.write_bytes(b"{}")
    target.symlink_to(kept)
    with pytest.raises(CorpusError, match="links and special files are not allowed here"):
        plugins.listed("p", tmp_path)


def test_what_is_no_plugin_is_refused(tmp_path):
    (tmp_path / "corpus" / "p").mkdir(parents=True)
    with pytest.raises(CorpusError, match="is not a plugin; name a directory"):
        plugins.listed("p", tmp_path)
    with pytest.raises(CorpusError, match="there is no such directory"):
        plugins.listed("q", tmp_path)


def test_a_plugin_of_too_many_files_is_refused(tmp_path):
    make(tmp_path / "corpus/p", *(f"assets/{number}" for number in range(plugins.MAX_FILES)))
    with pytest.raises(CorpusError, match=f"the limit is {plugins.MAX_FILES}"):
        plugins.listed("p", tmp_path)

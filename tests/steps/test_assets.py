from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.core import digest
from bench.effects import distributions, interpreter, trees, wheels
from bench.effects.context import Context, Made
from bench.effects.distributions import Pinned
from bench.effects.trees import Entry
from bench.errors import Cancelled, CorpusError, SourceError
from bench.steps import assets
from tests.effects.wheelmaking import lock, wheel
from tests.steps.making import context_at, job_of

ODDS = wheel("odds", "1.0", {"odds.py": b"ODD = 1\n"}, entry_points="[console_scripts]\nodds = odds:main\n")
EVENS = wheel("evens", "2.0", {"evens/__init__.py": b"EVEN = 2\n"})
MODULES = trees.pack([Entry("tool/cli.js", "100644", b"x"), Entry(".bin/tool", "120000", b"../tool/cli.js")])


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return context_at(tmp_path)


def pin(context: Context, name: str, version: str, data: bytes) -> Pinned:
    """A lock entry whose tree the store already holds."""
    item = lock(name, version, data)
    distributions.keep(context.store, item, wheels.unpack(data, item.filename))
    return item


def make(context: Context, items: list[Pinned], files: dict[str, bytes] | None = None, **params: str) -> Made:
    keyed = {"lock": [item.to_json() for item in items], "python": interpreter.minor(), **params}
    return assets.make(job_of("assets", context, keyed, files), context)


def test_distributions_become_one_tree(context: Context) -> None:
    made = make(context, [pin(context, "odds", "1.0", ODDS), pin(context, "evens", "2.0", EVENS)])
    entries = trees.entries_of(context.store.get(made.outputs["tree"].blob))
    paths = [entry.path for entry in entries]
    assert {"bin/odds", "odds.py", "evens/__init__.py", "evens-2.0.dist-info/METADATA"} <= set(paths)
    assert made.body == {
        "distributions": [["evens", "2.0"], ["odds", "1.0"]],
        "tree": trees.tree_digest(entries),
        "mounts": [],
    }


def test_the_record_is_the_same_anywhere_and_in_any_order(context: Context, tmp_path: Path) -> None:
    one = make(context, [pin(context, "odds", "1.0", ODDS), pin(context, "evens", "2.0", EVENS)])
    there = context_at(tmp_path / "elsewhere")
    other = make(there, [pin(there, "evens", "2.0", EVENS), pin(there, "odds", "1.0", ODDS)])
    assert digest.canonical(one.body) == digest.canonical(other.body)
    assert one.outputs == other.outputs
    assert one.notes == other.notes == {}


def test_no_dependencies_are_an_empty_tree(context: Context) -> None:
    made = make(context, [])
    assert trees.entries_of(context.store.get(made.outputs["tree"].blob)) == []


@pytest.mark.parametrize("own", ["odds", "Odds", "ODDS"])
def test_the_source_s_own_distribution_is_refused(context: Context, own: str) -> None:
    with pytest.raises(CorpusError, match="source's own distribution"):
        make(context, [pin(context, "odds", "1.0", ODDS)], exclude_dist=own)
    make(context, [pin(context, "evens", "2.0", EVENS)], exclude_dist=own)


def test_two_versions_of_one_distribution_are_refused(context: Context) -> None:
    item = pin(context, "odds", "1.0", ODDS)
    with pytest.raises(CorpusError, match="both locked"):
        make(context, [item, item])


def test_distributions_that_overwrite_each_other_are_refused(context: Context) -> None:
    thief = wheel("evens", "2.0", {"odds.py": b"ODD = 2\n"})
    with pytest.raises(SourceError, match=r"odds==1\.0 and evens==2\.0 both hold odds\.py"):
        make(context, [pin(context, "odds", "1.0", ODDS), pin(context, "evens", "2.0", thief)])


def test_a_source_distribution_is_refused_with_a_remedy(context: Context) -> None:
    item = replace(pin(context, "odds", "1.0", ODDS), filename="odds-1.0.tar.gz")
    with pytest.raises(CorpusError, match="pin a version of odds that has a wheel"):
        make(context, [item])


def test_mounted_trees_are_passed_through(context: Context) -> None:
    made = make(context, [], {"mount/web/node_modules": MODULES})
    expected = {"target": "web/node_modules", "tree": trees.tree_digest(trees.entries_of(MODULES))}
    assert made.body["mounts"] == [expected]
    assert context.store.get(made.outputs["mount/web/node_modules"].blob) == MODULES


@pytest.mark.parametrize("role", ["mount/../x", "mount//x", "mount/.git/hooks", "mount/", "other"])
def test_a_mount_outside_the_workspace_is_refused(context: Context, role: str) -> None:
    with pytest.raises(CorpusError):
        make(context, [], {role: MODULES})


def test_mounts_inside_each_other_are_refused(context: Context) -> None:
    with pytest.raises(CorpusError, match="clash"):
        make(context, [], {"mount/a": MODULES, "mount/a/b": MODULES})


def test_a_mounted_tree_with_an_absolute_link_is_refused(context: Context) -> None:
    with pytest.raises(SourceError):
        make(context, [], {"mount/a": trees.pack([Entry("link", "120000", b"/etc/passwd")])})


def test_a_cancelled_step_stops(context: Context) -> None:
    item = pin(context, "odds", "1.0", ODDS)
    context.cancel.set()
    with pytest.raises(Cancelled):
        make(context, [item])

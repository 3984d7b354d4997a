from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.core import digest
from bench.core.records import Record, sealed
from bench.effects import distributions, interpreter, trees, wheels
from bench.effects.context import Context, Made
from bench.effects.distributions import Pinned
from bench.effects.trees import Entry
from bench.errors import Cancelled, CorpusError, SourceError
from bench.steps import assets
from tests.effects.wheelmaking import lock, wheel, write
from tests.steps.making import context_at, job_of

ODDS = wheel("odds", "1.0", {"odds.py": b"ODD = 1\n"}, entry_points="[console_scripts]\nodds = odds:main\n")
EVENS = wheel("evens", "2.0", {"evens/__init__.py": b"EVEN = 2\n"})


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return context_at(tmp_path)


def pin(context: Context, name: str, version: str, data: bytes) -> Pinned:
    """A lock entry whose tree the store already holds."""
    item = lock(name, version, data)
    distributions.keep(context.store, item, wheels.unpack(data, item.filename))
    return item


def make(context: Context, items: list[Pinned], **params: str) -> Made:
    keyed = {"lock": [item.to_json() for item in items], "python": interpreter.minor(), **params}
    return assets.make(job_of("assets", context, keyed), context)


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


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", b'[project]\nname = "Odds"\n'),
        ("setup.cfg", b"[metadata]\nname = odds\n"),
        ("setup.py", b"from setuptools import setup\nsetup(name='odds')\n"),
        ("PKG-INFO", b"Metadata-Version: 2.1\nName: odds\n"),
    ],
)
def test_a_source_that_is_no_release_says_itself_what_must_not_be_installed(
    context: Context, path: str, text: bytes
) -> None:
    outputs = {"tree": context.store.put(trees.pack([Entry(path, "100644", text)]))}
    template = sealed(Record("template", "t", "k", {}, {}, "final", None, outputs, {}))
    own, other = pin(context, "odds", "1.0", ODDS), pin(context, "evens", "2.0", EVENS)
    for locked in ([own], [other]):
        keyed = {"lock": [item.to_json() for item in locked], "python": interpreter.minor(), "exclude_dist": None}
        job = job_of("assets", context, keyed, inputs={"template": template})
        if locked == [own]:
            with pytest.raises(CorpusError, match="source's own distribution"):
                assets.make(job, context)
        else:
            assert assets.make(job, context).body["distributions"] == [["evens", "2.0"]]


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


@pytest.fixture
def source(context: Context) -> Path:
    return write(context.root / "checkout", {"node_modules/tool/cli.js": b"x", "dist/index.js": b"y"})


def mount(source: Path, path: str, target: str) -> dict[str, str]:
    return {"source": path, "target": target, "tree": trees.tree_digest(trees.read(source / path))}


def mounted(context: Context, source: Path, mounts: list[dict[str, str]]) -> Made:
    job = job_of("assets", context, {"lock": [], "python": interpreter.minor(), "mounts": mounts})
    return assets.make(replace(job, hints={"source": {"dir": str(source)}}), context)


def test_mounted_trees_are_packed(context: Context, source: Path) -> None:
    wanted = [mount(source, "node_modules", "web/node_modules"), mount(source, "dist", "shared/dist")]
    made = mounted(context, source, wanted)
    assert made.body["mounts"] == [{"target": m["target"], "tree": m["tree"]} for m in reversed(wanted)]
    packed = context.store.get(made.outputs["mount/web/node_modules"].blob)
    assert trees.entries_of(packed) == [Entry("tool/cli.js", "100644", b"x")]
    assert str(context.root) not in digest.canonical(made.body).decode()


def test_a_mounted_tree_that_changed_since_it_was_keyed_is_refused(context: Context, source: Path) -> None:
    wanted = [mount(source, "dist", "dist")]
    (source / "dist/index.js").write_bytes(b"z")
    with pytest.raises(CorpusError, match="changed since the run began"):
        mounted(context, source, wanted)


@pytest.mark.parametrize("target", ["../x", "/x", ".git/hooks", ""])
def test_a_mount_outside_the_workspace_is_refused(context: Context, source: Path, target: str) -> None:
    with pytest.raises(CorpusError, match="the path"):
        mounted(context, source, [mount(source, "dist", target)])


def test_mounts_inside_each_other_are_refused(context: Context, source: Path) -> None:
    with pytest.raises(CorpusError, match="clash"):
        mounted(context, source, [mount(source, "dist", "a"), mount(source, "node_modules", "a/b")])


def test_a_cancelled_step_stops(context: Context) -> None:
    item = pin(context, "odds", "1.0", ODDS)
    context.cancel.set()
    with pytest.raises(Cancelled):
        make(context, [item])

"""What the three programs are told: in which order things are mounted, and that no order names the host."""

from __future__ import annotations

import marshal
from pathlib import Path

import pytest

from bench.effects.sandbox import Bind, Limits, Spec, bwrap, plan
from bench.effects.sandbox.layers import Layers


def drafted(tmp_path: Path, spec: Spec, layers: Layers | None = None) -> plan.Draft:
    made = plan.Draft(bwrap.ALL)
    plan.fill(made, spec, layers)
    return made


def shown(made: plan.Draft) -> list[tuple[str, bool]]:
    """`(target, readonly)` in the order of mounting."""
    return [(step[2], step[3]) for step in made.steps if step[0] == "show"]


def test_every_parent_of_a_mount_in_a_writable_place_is_a_mount_before_it(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    binds = (Bind(tmp_path, "/home/agent/.a/b/c"), Bind(tmp_path / "f", "/home/agent/.a/d"))
    targets = [t for t, _readonly in shown(drafted(tmp_path, Spec((), readonly=binds))) if t.startswith("/home/agent/")]
    assert targets == ["/home/agent/.a", "/home/agent/.a/b", "/home/agent/.a/b/c", "/home/agent/.a/d"]


def test_only_what_is_meant_to_be_written_is_writable(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "data").mkdir()
    spec = Spec((), readonly=(Bind(tmp_path, "/data"),), writable=(Bind(tmp_path / "out", "/out"),))
    made = drafted(tmp_path, spec, Layers(lower=(), layer=tmp_path))
    assert {target for target, readonly in shown(made) if not readonly} == {"/home/agent", "/tmp", "/workspace", "/out"}


def test_no_name_that_is_staged_comes_from_the_host(tmp_path: Path) -> None:
    spec = Spec((), readonly=(Bind(tmp_path, "/data"),), dependencies=tmp_path)
    for step in drafted(tmp_path, spec).steps:
        if step[0] in ("show", "memory", "folder", "file", "point"):
            assert str(tmp_path) not in repr(step[1:2])


def test_the_orders_can_be_carried(tmp_path: Path) -> None:
    spec = Spec(("true",), env={"A": "1"}, channel=True, limits=Limits(processes=7))
    made = drafted(tmp_path, spec)
    order = plan.order(spec, bwrap.ALL, grouped=False)
    assert marshal.loads(marshal.dumps(order)) == order
    assert order["env"]["ASSAY_CHANNEL"] == "3"
    assert ("processes", 8) in order["limits"]
    told = plan.for_launcher(made, spec, None, ["/usr/bin/bwrap"], watch=True)
    assert marshal.loads(marshal.dumps(told))["processes"] == 7


def test_a_control_group_leaves_memory_and_processes_to_itself() -> None:
    names = [name for name, _bound in plan.order(Spec(("true",)), bwrap.ALL, grouped=True)["limits"]]
    assert names == ["file_bytes", "open_files", "core_bytes"]


@pytest.mark.parametrize("name", sorted(plan.PARTS))
def test_a_script_comes_with_its_parts(name: str) -> None:
    parts = marshal.loads(plan.code(name))
    assert [module.rpartition(".")[2] for module, _code in parts] == list(plan.PARTS[name])


def test_the_stage_does_not_hide_bubblewrap() -> None:
    assert plan.stage_for(Path("/mnt/tools/bwrap")) != "/mnt"
    assert plan.stage_for(Path("/usr/bin/bwrap")) in (*plan.STAGES, "/tmp")

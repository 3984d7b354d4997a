"""The sandbox's door: what a run gives back, and what is left behind."""

from __future__ import annotations

import platform
import resource
from pathlib import Path

import pytest

from bench.effects.sandbox import Bind, Limits, Spec, Workspace, runner


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    template = tmp_path / "template"
    template.mkdir()
    (template / "a.txt").write_text("a")
    made = Workspace(template, tmp_path / "upper")
    runner.prepare(made)
    return made


def test_this_machine_can() -> None:
    runner.check()
    assert runner.versions()["kernel"] == platform.release()


def test_a_session_writes_its_own_layer_and_never_the_template(workspace: Workspace) -> None:
    done = runner.run(Spec(("sh", "-c", "cat a.txt; echo b > a.txt; echo n > new"), workspace))
    assert (done.exit, done.limit, done.stdout) == (0, None, b"a")
    assert (workspace.template / "a.txt").read_text() == "a"
    assert runner.run(Spec(("cat", "a.txt", "new"), workspace)).stdout == b"b\nn\n"


def opened() -> set[int]:
    return {int(path.name) for path in Path("/proc/self/fd").iterdir()}


def test_a_start_that_fails_leaves_no_descriptor_open() -> None:
    spec = Spec(("cat",), stdin=b"in", channel=True)
    assert runner.run(spec).ok
    before, bounds = opened(), resource.getrlimit(resource.RLIMIT_NOFILE)
    free = [number for number in range(1024) if number not in before]
    failed = 0
    for more in range(40):
        resource.setrlimit(resource.RLIMIT_NOFILE, (free[more], bounds[1]))
        try:
            runner.run(spec)
        except OSError:
            failed += 1
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, bounds)
        assert opened() == before, more
    assert 10 < failed < 40  # it did fail at every descriptor, and then no more


def test_a_frozen_view_may_be_written_and_forgets(workspace: Workspace) -> None:
    frozen = Workspace(workspace.template, workspace.upper, frozen=True, remove=("a.txt",))
    done = runner.run(Spec(("sh", "-c", "ls; echo x > a.txt; cat a.txt"), frozen))
    assert done.ok
    assert done.stdout == b"x\n"
    assert runner.run(Spec(("cat", "a.txt"), workspace)).stdout == b"a"
    assert sorted(p.name for p in workspace.upper.parent.iterdir()) == ["template", "upper"]


def test_home_and_output_directory_stay(workspace: Workspace, tmp_path: Path) -> None:
    for name in ("home", "out"):
        (tmp_path / name).mkdir()
    spec = Spec(
        ("sh", "-c", "echo 1 > ~/kept; echo 2 > /out/result"),
        workspace,
        home=tmp_path / "home",
        writable=(Bind(tmp_path / "out", "/out"),),
    )
    assert runner.run(spec).ok
    assert (tmp_path / "home" / "kept").read_text() == "1\n"
    assert (tmp_path / "out" / "result").read_text() == "2\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["home", "out", "template", "upper"]


def test_the_channel_is_read_apart_from_the_output() -> None:
    done = runner.run(Spec(("sh", "-c", "cat; echo said >&$ASSAY_CHANNEL"), stdin=b"in", channel=True))
    assert (done.stdout, done.channel) == (b"in", b"said\n")


def test_output_is_seen_as_it_comes() -> None:
    seen: list[tuple[str, bytes]] = []
    done = runner.run(Spec(("sh", "-c", "echo o; echo e >&2")), watch=lambda stream, data: seen.append((stream, data)))
    assert done.ok
    assert sorted(seen) == [("stderr", b"e\n"), ("stdout", b"o\n")]


def test_the_time_limit_ends_a_run() -> None:
    done = runner.run(Spec(("sleep", "1000"), limits=Limits(seconds=1)))
    assert (done.exit, done.limit) == (None, "time")


def test_probing_leaves_nothing(tmp_path: Path) -> None:
    assert runner.choose_backing(tmp_path) in ("overlay", "copy")
    assert list(tmp_path.iterdir()) == []

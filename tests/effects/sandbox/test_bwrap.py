"""Which bubblewrap, and what it is told."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from bench.effects.sandbox import bwrap

FLAGS = {
    "unshare_net": "--unshare-net",
    "unshare_pid": "--unshare-pid",
    "unshare_ipc": "--unshare-ipc",
    "unshare_uts": "--unshare-uts",
    "disable_userns": "--disable-userns",
    "own_init": "--as-pid-1",
    "seccomp": "--seccomp",
    "unshare_cgroup": "--unshare-cgroup",
    "readonly_devices": "--dev-bind",
}


def test_a_new_enough_one_is_found() -> None:
    path, version = bwrap.program()
    assert path.is_file()
    assert tuple(int(part) for part in version.split(".")[:2]) >= bwrap.OLDEST


def test_every_guard_is_on_unless_a_test_leaves_it_out() -> None:
    assert all(dataclasses.asdict(bwrap.Guards()).values())
    assert bwrap.Guards() == bwrap.ALL


@pytest.mark.parametrize("guard", FLAGS)
def test_a_guard_is_an_option(guard: str) -> None:
    assert FLAGS[guard] in bwrap.arguments("/mnt", 9, {}, bwrap.ALL)
    assert FLAGS[guard] not in bwrap.arguments("/mnt", 9, {}, dataclasses.replace(bwrap.ALL, **{guard: False}))


def test_namespaces_are_asked_for_one_by_one() -> None:
    options = bwrap.arguments("/mnt", 9, {}, bwrap.ALL)
    assert {"--unshare-user", "--unshare-cgroup", "--die-with-parent", "--new-session", "--clearenv"} <= set(options)
    assert options[options.index("--cap-drop") + 1] == "ALL"
    assert [options[i + 1] for i, option in enumerate(options) if option in ("--uid", "--gid")] == ["1000", "1000"]


def test_every_tmpfs_has_a_size() -> None:
    options = bwrap.arguments("/mnt", 9, {}, bwrap.ALL)
    assert all(options[i - 2] == "--size" for i, option in enumerate(options) if option == "--tmpfs")


def test_the_root_is_sealed_last() -> None:
    assert bwrap.arguments("/mnt", 9, {}, bwrap.ALL)[-4:] == ["--remount-ro", "/dev", "--remount-ro", "/"]


@pytest.mark.parametrize(("guard", "place"), [("readonly_proc", "/proc"), ("readonly_root", "/"), ("readonly_root", "/dev")])
def test_a_place_is_made_read_only_by_its_guard(guard: str, place: str) -> None:
    for given in (True, False):
        options = bwrap.arguments("/mnt", 9, {}, dataclasses.replace(bwrap.ALL, **{guard: given}))
        assert (place in [b for a, b in itertools.pairwise(options) if a == "--remount-ro"]) is given

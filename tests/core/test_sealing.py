from __future__ import annotations

import pytest

from bench.core import sealing
from bench.errors import CorpusError

KIB = 1024


def files(count: int, each: int = 1) -> dict[str, bytes]:
    return {f"test_{number:03}.py": b"x" * each for number in range(count)}


@pytest.mark.parametrize(
    ("local", "borne"),
    [
        (files(8), {}),
        (files(1, 512 * KIB), {}),
        (files(4, 512 * KIB), {}),
        ({}, files(64)),
        ({}, files(4, 2048 * KIB)),
        ({"config.py": b""}, files(64)),
    ],
)
def test_the_limits_themselves_pass(local: dict[str, bytes], borne: dict[str, bytes]) -> None:
    sealing.check_files(local, borne)


@pytest.mark.parametrize(
    ("local", "borne"),
    [
        ({}, {}),
        (files(9), {}),
        (files(1, 512 * KIB + 1), {}),
        (files(4, 512 * KIB) | {"one": b"x"}, {}),
        ({}, files(65)),
        ({}, files(1, 2048 * KIB + 1)),
        ({}, files(4, 2048 * KIB) | {"one": b"x"}),
    ],
)
def test_one_beyond_each_limit_is_refused(local: dict[str, bytes], borne: dict[str, bytes]) -> None:
    with pytest.raises(CorpusError):
        sealing.check_files(local, borne)


@pytest.mark.parametrize("target", ["../x", "/x", "a\\b", "a\0", ".git/config", "x" * 241, "", "a/./b"])
def test_a_target_that_leaves_the_oracle_is_refused(target: str) -> None:
    with pytest.raises(CorpusError):
        sealing.check_files({target: b""}, {})


@pytest.mark.parametrize(("one", "other"), [("a", "A"), ("a", "a/b")])
def test_targets_that_clash_are_refused(one: str, other: str) -> None:
    with pytest.raises(CorpusError, match="clash"):
        sealing.check_files({one: b""}, {other: b""})


def test_defaults_are_filled_in() -> None:
    assert sealing.check_command({"command": "true"}, []) == {
        "command": "true",
        "pytest": False,
        "report": "exit",
        "paths": [],
        "pythonpath": [],
        "args": [],
    }
    said = sealing.check_command({"pytest": True, "paths": ("test_a.py",), "pythonpath": ["src"]}, ["test_a.py"])
    assert (said["pytest"], said["paths"], said["pythonpath"]) == (True, ["test_a.py"], ["src"])


@pytest.mark.parametrize(
    "oracle",
    [
        {},
        {"command": "true", "pytest": True, "paths": ["test_a.py"]},
        {"command": " "},
        {"command": "a\0b"},
        {"command": "x" * (8 * KIB + 1)},
        {"command": "é" * (4 * KIB + 1)},
        {"command": 7},
        {"command": "true", "report": "junit"},
        {"pytest": True},
        {"pytest": True, "paths": ["test_b.py"]},
        {"pytest": True, "paths": ["test_a"]},
    ],
)
def test_a_wrong_command_is_refused(oracle: dict[str, object]) -> None:
    with pytest.raises(CorpusError):
        sealing.check_command(oracle, ["test_a.py", "tests/test_c.py"])


@pytest.mark.parametrize("path", ["test_a.py", "test_a.py::test_one[x]", "tests", "tests/", "tests/test_c.py"])
def test_paths_may_name_files_ids_and_folders(path: str) -> None:
    sealing.check_command({"pytest": True, "paths": [path]}, ["test_a.py", "tests/test_c.py"])


def test_the_command_of_8_kib_passes() -> None:
    sealing.check_command({"command": "x" * 8 * KIB}, [])


def test_digests_tell_apart_and_do_not_depend_on_order() -> None:
    one, two = {"target": "a", "digest": "b3:1", "bytes": 1}, {"target": "b", "digest": "b3:2", "bytes": 2}
    assert sealing.manifest_digest([one, two]) == sealing.manifest_digest([two, one])
    # what plain concatenation would confuse
    assert sealing.manifest_digest([one | {"target": "a1", "bytes": 2}]) != sealing.manifest_digest([one | {"bytes": 12}])
    command = sealing.check_command({"command": "true"}, [])
    assert sealing.command_digest(command) == "b3:e5072e6ca18a435ee76fbcf1526ec2dc993c02210c015f34c5ec2aaac5c4a214"
    assert sealing.manifest_digest([one]) == "b3:c5dc93f3a4ba953d803f56a6499424e8e7881630579c4827fca85c88088fb541"

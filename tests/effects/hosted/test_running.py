"""Commands on the host: what they are given, what ends them, and that nothing of them is left."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from bench.effects.hosted import running
from bench.effects.hosted.mapped import Mapped
from bench.effects.hosted.running import Place
from bench.errors import MissingPart


@pytest.fixture
def place(tmp_path: Path) -> Place:
    clone = tmp_path / "clone"
    clone.mkdir()
    mapped = Mapped({"/workspace": str(clone), "/home/agent": str(tmp_path / "home"), "/tmp": str(tmp_path / "tmp")})
    made = Place(clone, tmp_path / "home", tmp_path / "tmp", mapped, {"BENCH_REVIEW_OUTPUT": "/tmp/out/review.json"})
    running.prepare(made)
    return made


def alive(number: int) -> bool:
    try:
        # A killed process that its parent has not reaped is dead.
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_environment_is_made_from_nothing(place: Place) -> None:
    done = running.run(place, ("env",), seconds=30)
    got = dict(line.split("=", 1) for line in done.stdout.decode().splitlines())
    assert set(got) == {*running.environment(place), running.MARK}
    assert not [name for name in got if name.endswith("_KEY") or name.startswith("PYTEST")]
    assert (got["HOME"], got["TMPDIR"]) == ("/home/agent", "/tmp")
    assert got["BENCH_REVIEW_OUTPUT"] == "/tmp/out/review.json"


def test_paths_are_the_sandboxs_inside_and_out(place: Place) -> None:
    done = running.run(place, ("sh", "-c", "pwd; echo x > /tmp/a; ls $TMPDIR /workspace/none; exit 3"), seconds=30)
    assert (done.exit, done.limit, done.stdout) == (3, None, b"/workspace\n/tmp:\na\n")
    assert b"/workspace/none" in done.stderr
    assert (place.tmp / "a").read_bytes() == b"x\n"


def test_the_interpreter_has_nobodys_packages(place: Place) -> None:
    said = "import sys; print(sys.version.split()[0], 'bench' in sys.path, sys.prefix == sys.base_prefix)"
    done = running.run(place, ("python3", "-c", said), seconds=60)
    assert done.stdout.decode().split() == [sys.version.split()[0], "False", "True"]


def test_standard_input_is_null_or_what_was_given(place: Place) -> None:
    assert running.run(place, ("cat",), seconds=30).stdout == b""
    assert running.run(place, ("cat",), stdin=b"x" * 300_000, seconds=30).stdout == b"x" * 300_000


TREE = "setsid sleep 1000 & echo $!; sleep 1000 & echo $!; {end}"


@pytest.mark.parametrize(("end", "limit"), [("exit 0", None), ("wait", "time"), ("yes", "output")])
def test_no_process_is_left(place: Place, end: str, limit: str | None) -> None:
    done = running.run(place, ("sh", "-c", TREE.format(end=end)), seconds=1.5 if limit == "time" else 60)
    assert (done.limit, done.exit) == (limit, 0 if limit is None else None)
    assert len(done.stdout) <= running.OUTPUT_BYTES
    left = [int(word) for word in done.stdout[:100].split()[:2]]
    assert [alive(number) for number in left] == [False, False]


def test_a_cancelled_command_ends_with_its_children(place: Place) -> None:
    cancel = threading.Event()
    threading.Timer(0.5, cancel.set).start()
    done = running.run(place, ("sh", "-c", TREE.format(end="exec >&- 2>&-; sleep 1000")), seconds=60, cancel=cancel)
    assert (done.limit, done.exit) == ("cancelled", None)
    assert not [number for number in map(int, done.stdout.split()) if alive(number)]


def test_a_signal_is_a_status(place: Place) -> None:
    assert running.run(place, ("sh", "-c", "kill -9 $$"), seconds=30).exit == 137


@pytest.mark.parametrize(
    ("argv", "said"), [(("sh", "-c", ": " + "x" * (1 << 18)), b"Argument list too long"), (("sh", "-c", "\ud800"), b"")]
)
def test_what_no_command_line_can_hold_fails_and_nothing_stays_open(
    place: Place, argv: tuple[str, ...], said: bytes
) -> None:
    before = sorted(Path("/proc/self/fd").iterdir())
    done = running.run(place, argv, stdin=b"x", seconds=30)
    assert (done.exit, done.limit, said in done.stderr) == (126, None, True)
    assert sorted(Path("/proc/self/fd").iterdir()) == before


def test_an_agent_that_removes_its_own_clone_finds_it_gone(place: Place) -> None:
    assert running.run(place, ("rm", "-r", "/workspace"), seconds=30).ok
    done = running.run(place, ("sh", "-c", "true"), seconds=30)
    assert (done.exit, done.limit, done.stderr) == (126, None, b"/workspace: No such file or directory\n")


def test_what_left_its_environment_dies_with_its_group(place: Place) -> None:
    done = running.run(place, ("sh", "-c", "env -i /bin/sleep 1000 & echo $!"), seconds=60)
    assert (done.exit, done.limit) == (0, None)
    assert not alive(int(done.stdout))


def test_an_absent_program_is_named_and_nothing_stays_open(place: Place) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(MissingPart, match="no-such-program"):
        running.run(place, ("no-such-program",), stdin=b"x", seconds=30)
    assert len(list(Path("/proc/self/fd").iterdir())) == before

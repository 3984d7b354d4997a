"""The room of a run: what it shows, and which ends of a run yield no graph."""

import pytest

from bench.effects.indexers import room
from bench.effects.sandbox import Finished
from bench.effects.trees import Entry
from bench.errors import Cancelled, StepFailed


def test_a_room_holds_the_files_readable_and_an_empty_place_for_results(tmp_path):
    place = room.stage([Entry("a/b.py", "100644", b"x = 1\n")], tmp_path)
    assert (place / "src/a/b.py").read_bytes() == b"x = 1\n"
    assert [p.name for p in place.iterdir() if not any(p.iterdir())] == ["out"]
    assert (place / "out").stat().st_mode & 0o777 == 0o777
    assert (place / "src/a").stat().st_mode & 0o777 == 0o755
    assert (room.source(place).target, room.out(place).target) == ("/src", "/out")


def test_a_path_that_is_no_text_is_shown_by_its_bytes():
    assert room.printable("a\udcffb") == "a\\xffb"
    assert room.printable("é") == "é"


@pytest.mark.parametrize(
    ("exit", "limit", "stderr", "error", "words"),
    [
        (None, "time", b"", StepFailed, "canpy hit its limit of time; raise limits.graph_s"),
        (None, "memory", b"", StepFailed, "hit its limit of memory"),
        (None, "cancelled", b"", Cancelled, "canpy was stopped"),
        (3, None, b"some\n  reason", StepFailed, "failed with status 3: some reason"),
        (0, None, b"", StepFailed, "failed with status 0"),
    ],
)
def test_a_run_that_did_not_end_well_is_refused(exit, limit, stderr, error, words, tmp_path):
    with pytest.raises(error, match=words):
        room.check("canpy", Finished(exit, limit, b"", stderr, b"", 1.0), tmp_path / "result")


def test_a_run_that_ended_well_passes(tmp_path):
    (tmp_path / "result").write_bytes(b"")
    room.check("canpy", Finished(0, None, b"", b"", b"", 1.0), tmp_path / "result")

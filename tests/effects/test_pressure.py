"""Pressure of a machine that tells it, and of one that does not."""

from __future__ import annotations

from pathlib import Path

from bench.effects.pressure import PressureWatch


def test_a_machine_that_tells_nothing_gives_nulls(tmp_path: Path) -> None:
    told = PressureWatch(tmp_path).told()
    assert (told["cpu_some_pct"], told["memory_some_pct"]) == (None, None)


def test_the_share_of_stalled_time_is_told(tmp_path: Path) -> None:
    line = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"
    (tmp_path / "cpu").write_text(line.format(1_000_000))
    (tmp_path / "memory").write_text(line.format(5))
    watch = PressureWatch(tmp_path)
    (tmp_path / "cpu").write_text(line.format(3_600_000_000))
    told = watch.told()
    assert told["cpu_some_pct"] == 100.0
    assert told["memory_some_pct"] == 0.0
    assert told["cores"] >= 1


def test_an_odd_file_is_not_understood_and_not_a_fault(tmp_path: Path) -> None:
    (tmp_path / "cpu").write_text("some total=x\n\nfull\n")
    assert PressureWatch(tmp_path).told()["cpu_some_pct"] is None

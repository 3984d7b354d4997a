"""What stands, and for how long."""

from __future__ import annotations

import datetime
from pathlib import Path

from bench.effects import clock
from bench.make.workspace import CLOCK_SLACK
from tests.make.scripted import final, opened, step


def test_what_is_measured_late_in_a_long_run_is_not_of_the_future(tmp_path: Path):
    """Two suites that share a session must not pay for it twice, however long the run has gone on before it."""
    workspace, paid = opened(tmp_path), step(final(), paid=True, max_age_days=90)
    measured = clock.stamp(clock.now_utc() + CLOCK_SLACK + datetime.timedelta(seconds=2))
    assert not workspace.fresh_enough(paid, "final", measured), "asked for the first time in this run"
    while clock.stamp(clock.now_utc() + CLOCK_SLACK) < measured:
        clock.sleep(0.1)
    assert workspace.fresh_enough(paid, "final", measured)

"""Numbers for people: unknown is n/a and never 0."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.effects.report import numbers


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (numbers.usd, None, "n/a"),
        (numbers.usd, 0.0, "$0.00"),
        (numbers.usd, 0.0214, "$0.0214"),
        (numbers.usd, 3653.0, "$3,653.00"),
        (numbers.seconds, None, "n/a"),
        (numbers.seconds, 0.1, "0.1 s"),
        (numbers.seconds, 95.0, "1 min 35 s"),
        (numbers.seconds, 5400.0, "1 h 30 min"),
        (numbers.seconds, 3599.9, "1 h 00 min"),
        (numbers.count, None, "n/a"),
        (numbers.count, 0, "0"),
        (numbers.count, 25690, "25\u202f690"),
        (numbers.count, 1.5, "1.5"),
        (numbers.percent, None, "n/a"),
        (numbers.percent, 12.5, "+12.5 %"),
        (numbers.percent, -24, "−24.0 %"),
        (numbers.percent, 0.0, "±0 %"),
        (numbers.points, 36.4, "+36.4 pp"),
    ],
)
def test_written(write: Callable[[float | None], str], value: float | None, text: str) -> None:
    assert write(value) == text


@pytest.mark.parametrize(
    ("saved", "change", "direction"),
    [(None, None, "unknown"), (5.0, -5.0, "better"), (-5.0, 5.0, "worse"), (0.0, 0.0, "even")],
)
def test_what_is_saved_counts_down(saved: float | None, change: float | None, direction: str) -> None:
    assert numbers.change(saved) == change
    assert str(numbers.change(saved)) != "-0.0"
    assert numbers.direction(saved) == direction

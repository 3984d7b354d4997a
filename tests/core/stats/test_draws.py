"""The stream of draws is fixed for ever: a changed number here is a changed report of old evidence."""

from __future__ import annotations

from bench.core.stats.draws import Draws


def test_the_stream_is_the_one_it_always_was() -> None:
    assert Draws().places(1000, 6).tolist() == EXPECTED
    assert Draws(1).places(1000, 6).tolist() != EXPECTED


def test_draws_lie_in_their_range() -> None:
    draws = Draws()
    assert set(draws.places(3, 200).tolist()) == {0, 1, 2}
    assert set(draws.signs(50).tolist()) == {-1.0, 1.0}
    units = draws.units(10, 10)
    assert units.shape == (10, 10)
    assert ((units >= 0) & (units < 1)).all()


EXPECTED = [298, 761, 781, 145, 836, 898]

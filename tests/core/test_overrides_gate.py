"""Thresholds on the command line: the file's limits, the profile's own, and nothing unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench import schemas
from bench.core import corpus, overrides, overrides_gate
from bench.core.suite import Suite
from bench.errors import UsageError


def suite(profile: str = "implementation") -> Suite:
    return Suite("s", (), (), profile=profile, promotion=dict(corpus.GATES[profile]))


def test_every_threshold_can_be_given() -> None:
    for profile, gate in corpus.GATES.items():
        for name, value in gate.items():
            given = ",".join(value) if isinstance(value, list) else str(value)
            assert overrides.override(suite(profile), {name: given}).promotion[name] == value
    changed = overrides.override(suite(), {"min_improvement_pct": "10", "policy": "statistical", "metric": "duration_s"})
    assert {name: changed.promotion[name] for name in ("min_improvement_pct", "policy", "metric")} == {
        "min_improvement_pct": 10,
        "policy": "statistical",
        "metric": "duration_s",
    }


@pytest.mark.parametrize(
    ("profile", "name", "value"),
    [
        ("implementation", "min_runs", "0"),
        ("implementation", "min_runs", "2.5"),
        ("implementation", "min_runs", "x"),
        ("implementation", "min_improvement_pct", "nan"),
        ("implementation", "min_improvement_pct", "101"),
        ("implementation", "min_improvement", "0.1"),
        ("implementation", "metric", "review_weighted_f1"),
        ("review", "metric", "cost_usd"),
        ("review", "min_improvement_pct", "5"),
        ("review", "policy", "lenient"),
    ],
)
def test_what_a_gate_does_not_have_or_allow(profile: str, name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"{name}="):
        overrides.override(suite(profile), {name: value})


def test_acknowledged_alarms_add_up() -> None:
    first = overrides.override(suite(), {"acknowledge": "0123456789ab"})
    assert overrides.override(first, {"acknowledge": "ba9876543210, "}).promotion["acknowledge"] == [
        "0123456789ab",
        "ba9876543210",
    ]


def test_the_limits_are_those_of_the_file() -> None:
    known: dict[str, Any] = schemas.load("suite")["properties"]["promotion"]["properties"]
    for name, (least, most) in overrides_gate.LIMITS.items():
        assert (known[name]["minimum"], known[name]["maximum"]) == (least, most), json.dumps(known[name])

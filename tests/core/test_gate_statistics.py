"""policy: statistical takes promotions away whose improvement is not shown, and never gives one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import gate, gate_statistics
from bench.core.gate import Check, Verdict
from tests.core.promotions import arms, decided, document, failing, reviewed

CHEAPER = arms("a", [{"cost_usd": 1.0}] * 3, [{"cost_usd": 0.5}] * 3)
SOLVED = arms("a", [{"resolved": False}] + [{}] * 2, [{}] * 3) + arms("b", [{"resolved": False}] + [{}] * 2, [{}] * 3)
STATISTICAL = {"policy": "statistical"}


def said(**improves: bool) -> dict[str, Any]:
    return {
        "measures": {
            name: {"improves": good, "interval": [-1.0, 5.0], "excludes_zero": good} for name, good in improves.items()
        }
    }


@pytest.mark.parametrize(
    ("statistics", "decision"),
    [
        (said(cost_usd=True), "promote"),
        (said(cost_usd=False), "keep_incumbent"),
        (said(resolved=True), "keep_incumbent"),
        (None, "keep_incumbent"),
    ],
)
def test_the_metric_must_improve(statistics: Any, decision: str) -> None:
    assert decided(CHEAPER, thresholds=STATISTICAL, statistics=statistics) == decision
    assert decided(CHEAPER, statistics=statistics) == "promote"


def test_a_margin_of_solved_runs_is_about_solved_runs() -> None:
    assert decided(SOLVED, thresholds=STATISTICAL, statistics=said(resolved=True)) == "promote"
    found = document(SOLVED, thresholds=STATISTICAL, statistics=said(resolved=False, cost_usd=True))
    assert found["decision"] == "keep_incumbent"
    assert "resolved_margin" in failing(found, "short")
    assert any("includes zero" in reason for reason in found["decisions"][0]["reasons"])


def test_a_review_must_improve_weighted_f1() -> None:
    rows = [reviewed("d", arm, n, f1) for arm, f1 in (("incumbent", 0.5), ("candidate", 0.7)) for n in range(3)]
    good, bad = said(review_weighted_f1=True), said(review_weighted_f1=False, resolved=True)
    assert decided(rows, "review", thresholds=STATISTICAL, statistics=good) == "promote"
    assert decided(rows, "review", thresholds=STATISTICAL, statistics=bad) == "keep_incumbent"


def test_statistics_never_promote_by_themselves() -> None:
    rows = arms("a", [{"cost_usd": 1.0}] * 3, [{"cost_usd": 0.99}] * 3)
    assert decided(rows, thresholds=STATISTICAL, statistics=said(cost_usd=True, resolved=True)) == "keep_incumbent"


def test_what_is_compared() -> None:
    assert gate_statistics.measures({"metric": "cost_usd"}) == ["resolved", "cost_usd"]


CHECKS = st.lists(
    st.builds(
        Check,
        st.sampled_from(["resolved_margin", "improvement", "cap"]),
        st.none(),
        st.just(1),
        st.just(1),
        st.sampled_from(Verdict),
    )
)
SAID = st.fixed_dictionaries(
    {},
    optional={
        "improves": st.booleans() | st.none(),
        "interval": st.just([-1.0, 2.0]) | st.none(),
        "excludes_zero": st.booleans(),
    },
)
COMPARED = st.none() | st.fixed_dictionaries({"measures": st.dictionaries(st.sampled_from(["resolved", "cost_usd"]), SAID)})


@given(CHECKS, COMPARED)
def test_the_statistics_only_ever_take_a_promotion_away(checks: list[Check], statistics: dict[str, Any] | None) -> None:
    plain = gate.decision(checks)
    for policy in ({"metric": "cost_usd"}, {"metric": "cost_usd", "policy": "reference"}):
        assert gate_statistics.held(checks, statistics, policy) == checks
    held = gate_statistics.held(checks, statistics, {"metric": "cost_usd", "policy": "statistical"})
    assert gate.decision(held) in {plain, gate.KEEP} if plain == gate.PROMOTE else gate.decision(held) == plain
    shown = {name for name, said in ((statistics or {}).get("measures") or {}).items() if said.get("improves") is True}
    if gate.decision(held) == gate.PROMOTE:
        assert shown, "nothing was shown"

"""Incidents of gates that promoted what they should not have, each tried on the whole path from rows to document.

One passing arm applied an overlay that another had rejected; a rejected one's numbers were edited until it passed; a task
that both arms failed skipped every check, so an 800 % regression passed; a null cost won as $0; the same session was bought
until it looked good; a skill that was never loaded was left out of the medians, which turned keep into promote.
"""

from __future__ import annotations

import copy
import json
from typing import Any

from bench.core import promotion_check
from tests.core.promotions import Row, arms, decided, document, known, reviewed

CHEAP, DEAR = {"cost_usd": 0.5}, {"cost_usd": 9.0}
UNSOLVED = {"resolved": False, "error_kind": "oracle-failed"}


def test_one_passing_arm_of_two() -> None:
    plan = arms("a", [{}] * 3, [CHEAP] * 3)
    work = [row | {"arm": row["arm"] + "-direct"} for row in arms("a", [{}] * 3, [{}] * 3)]
    found = document(plan + work, pairs=[["incumbent", "candidate"], ["incumbent-direct", "candidate-direct"]])
    assert found["decision"] == "keep_incumbent"
    alone = copy.deepcopy(found)
    for name in ("decisions", "required_candidate_arms"):
        alone[name] = alone[name][:1]
    alone["decision"] = "promote"
    assert promotion_check.applicable(alone)


def test_numbers_edited_until_they_promote() -> None:
    """Each edit alone is found out; all together they are another document, which no record or journal line vouches for."""
    found = json.loads(json.dumps(document(arms("a", [{}] * 3, [{}] * 3))))
    side = found["decisions"][0]["tasks"][0]["candidate"]
    side["cost_usd"] = 0.1
    assert promotion_check.applicable(found)
    found["decisions"][0]["decision"] = found["decision"] = "promote"
    assert promotion_check.applicable(found)


def test_a_task_that_both_fail_skips_no_check() -> None:
    good = arms("b", [{}] * 3, [CHEAP] * 3) + arms("c", [{}] * 3, [CHEAP] * 3)
    assert decided(arms("a", [UNSOLVED] * 3, [UNSOLVED | DEAR] * 3) + good) == "keep_incumbent"
    skipped = UNSOLVED | {"error_kind": "skill-not-invoked"}
    assert decided(arms("a", [UNSOLVED] * 3, [skipped] * 3) + good) == "keep_incumbent"


def test_a_null_cost_is_not_nothing() -> None:
    rows = arms("a", [{}] * 3, [CHEAP, CHEAP, {"cost_usd": None}])
    assert decided(rows) == "insufficient_evidence"


def test_bought_again_until_it_looked_good() -> None:
    rows = arms("a", [{}] * 3, [CHEAP] * 3)
    lucky = {("a", "candidate", n): known(attempts=2) for n in range(3)}
    assert decided(rows) == "promote"
    assert decided(rows, measured=lucky) == "insufficient_evidence"


def test_the_worst_runs_of_an_arm_stay_in_its_medians() -> None:
    """Leaving out runs whose skill was never loaded was measured to turn keep into promote."""

    def reviews(spoilt: dict[str, Any]) -> list[Row]:
        rows = [reviewed("d", "incumbent", n, 0.6) for n in range(3)]
        bad = [reviewed("d", "candidate", n, 0.1) | spoilt for n in (0, 1)]
        return [*rows, *bad, reviewed("d", "candidate", 2, 0.9)]

    found = document(reviews({"error_kind": "skill-not-invoked"}), "review")
    assert found["decision"] == "keep_incumbent"
    assert found["decisions"][0]["tasks"][0]["candidate"]["review_weighted_f1"] == 0.1


def test_missing_transcripts_and_dead_runs_promote_nothing() -> None:
    for kind in ("evidence-unverified", "cleanup-failure", "cancelled"):
        rows = arms("a", [{}] * 3, [CHEAP, CHEAP, CHEAP | {"error_kind": kind, "resolved": False, "state": "unusable"}])
        assert decided(rows) == "insufficient_evidence"

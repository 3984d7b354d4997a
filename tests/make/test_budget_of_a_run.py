"""What a suite's budget bounds when costs are not known, or not yet; around scripted sessions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.effects.context import Context, Job, Made
from bench.make.costs import history
from bench.make.workspace import Workspace
from tests.make.scripted import build, opened, together
from tests.make.test_admission import session, spends


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return opened(tmp_path)


def unpriced(known: float = 0.0) -> Callable[[Job, Context], Made]:
    """A session that knows of these dollars alone, and that there were more."""
    return lambda job, context: Made({"spent_usd": known, "spent_exact": False, "run": job.name})


def test_sessions_of_an_unknown_price_use_the_budget_up_at_what_they_are_expected_to_cost(workspace: Workspace) -> None:
    did = [build(workspace, session(unpriced(), run, budget_usd=2.0, expected_usd=0.6)) for run in range(6)]
    assert did == ["measured"] * 3 + ["not_run"] * 3
    assert workspace.run.admission.spent.text == "at least $0.00"


def test_what_is_known_of_a_cost_counts_where_it_is_more_than_was_expected(workspace: Workspace) -> None:
    assert build(workspace, session(unpriced(1.5), 0, budget_usd=2.0, expected_usd=0.6)) == "measured"
    assert build(workspace, session(unpriced(), 1, budget_usd=2.0, expected_usd=0.6)) == "not_run"


def test_a_cost_that_is_not_known_in_full_is_no_figure_of_its_arm(workspace: Workspace) -> None:
    for run in range(2):
        build(workspace, session(unpriced(0.01), run, budget_usd=5.0, expected_usd=0.6))
    assert build(workspace, session(spends(0.5), 2, budget_usd=5.0, expected_usd=0.6)) == "measured"
    later = opened(workspace.layout.root)
    for run in range(3):
        later.declare(session(spends(0.5), run))
    assert history(later, session(spends(0.5), 3), wide=False) == [0.5]


def test_a_canary_that_stands_for_a_session_makes_its_arm_no_cheaper(workspace: Workspace) -> None:
    def stands(job: Job, context: Context) -> Made:
        return Made({"spent_usd": 0.0, "stands_for": "s/t/a/9", "run": job.name})

    assert build(workspace, session(stands, 0, budget_usd=1.0, expected_usd=0.6)) == "built"
    assert build(workspace, session(spends(0.6), 1, budget_usd=1.0, expected_usd=0.6)) == "measured"
    assert build(workspace, session(spends(0.6), 2, budget_usd=1.0, expected_usd=0.6)) == "not_run"


def test_sessions_side_by_side_have_together_what_the_suite_has_left(workspace: Workspace) -> None:
    inside, spent = threading.Event(), threading.Event()
    left: list[float | None] = []

    def watches(job: Job, context: Context) -> Made:
        left.append(context.left())
        inside.set()
        assert spent.wait(20)
        left.append(context.left())
        return Made({"spent_usd": 0.0})

    def spender(job: Job, context: Context) -> Made:
        context.spent(1.5)
        spent.set()
        return Made({"spent_usd": 1.5})

    def second() -> None:
        assert inside.wait(20)
        build(workspace, session(spender, 1, budget_usd=2.0, expected_usd=0.1))

    together(lambda: build(workspace, session(watches, 0, budget_usd=2.0, expected_usd=0.1)), second)
    assert left == [2.0, 0.5]

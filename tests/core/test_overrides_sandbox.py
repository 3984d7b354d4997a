"""`sandbox=unsafe-host` is for reviews by our own engine, and everything else is refused before it runs."""

from __future__ import annotations

import dataclasses

import pytest

from bench.core import corpus, overrides_sandbox, suspicions
from bench.core.suite import Suite
from bench.errors import UsageError
from tests.core import suites

UNSAFE = overrides_sandbox.UNSAFE
PLAIN = suites.parse(suites.suite())


def reviews(engine: str = "loop", **changes: object) -> Suite:
    arms = tuple(
        arm if arm.engine in ("nop", "gold") else dataclasses.replace(arm, engine=engine, phases=("review",), graph=False)
        for arm in PLAIN.arms
    )
    tasks = tuple(dataclasses.replace(task, **({"dependencies": ()} | changes)) for task in PLAIN.tasks)
    return dataclasses.replace(PLAIN, profile="review", arms=arms, tasks=tasks)


def test_reviews_may_be_made_on_the_host() -> None:
    assert corpus.override(reviews(), {"sandbox": UNSAFE}).sandbox == UNSAFE
    assert corpus.override(reviews(), {}).sandbox is None


@pytest.mark.parametrize("text", overrides_sandbox.SANDBOXED)
def test_the_sandbox_may_be_named(text: str) -> None:
    assert corpus.override(PLAIN, {"sandbox": text}) == PLAIN


@pytest.mark.parametrize(
    ("suite", "value", "said"),
    [
        (PLAIN, UNSAFE, "is for suites of reviews"),
        (reviews("claude"), UNSAFE, "engine is claude.*engine loop"),
        (reviews(dependencies=("pytest==9.0.3",)), UNSAFE, "has dependencies"),
        (reviews(sandbox_copy=("x",)), UNSAFE, "has dependencies"),
        (reviews(), "none", "not a sandbox"),
        (reviews(), "unsafe_host", "not a sandbox"),
    ],
)
def test_what_needs_the_sandbox_is_refused(suite: Suite, value: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        corpus.override(suite, {"sandbox": value})
    assert refused.value.where == "sandbox="


def test_arms_that_are_left_out_refuse_nothing() -> None:
    assert corpus.override(reviews("claude"), {"sandbox": UNSAFE, "arms": "nop"}).sandbox == UNSAFE


@pytest.mark.parametrize(("backing", "name"), [("overlay", "bwrap"), ("copy", "bwrap"), (UNSAFE, "host-unsafe")])
def test_the_reference_has_a_name_for_it(backing: str, name: str) -> None:
    assert overrides_sandbox.backend(backing) == name


def test_the_report_warns_even_where_only_calibration_ran() -> None:
    row = {"arm": "nop", "role": "calibration", "state": "final", "task": "a", "run": 0, "backing": UNSAFE}
    assert [entry["kind"] for entry in suspicions.warnings([row])] == [UNSAFE]

"""Two arms that would be one piece of evidence are told, and no others: by what reaches their sessions."""

from __future__ import annotations

from typing import Any

import pytest

from bench.core import corpus, matrix
from tests.core import suites

LOOP = {"role": "comparator", "engine": "loop"}
CLAUDE = {"role": "comparator", "engine": "claude"}
TASKS = [suites.TASK, suites.task(id="other")]


def same(first: dict[str, Any], second: dict[str, Any], **given: Any) -> bool:
    """Whether a suite of two arms is refused since they are one, with variables of the command line."""
    model = given.pop("model", "anthropic/claude-sonnet-4-5")
    arms = [{"name": "one"} | first, {"name": "two"} | second]
    suite = corpus.override(suites.parse(suites.suite(model=model, arms=arms, tasks=TASKS, graph="codeanalyzer")), given)
    said = suites.fault(matrix.check_ready, suite, suite.arms)
    assert said is None or "the arms 'one' and 'two' are the same, and would be one piece of evidence" in said
    return said is not None


def test_a_replica_tells_them_apart() -> None:
    assert same(LOOP, LOOP)
    assert not same(LOOP, LOOP | {"replica": 1})
    assert same({"role": "calibration", "engine": "nop"}, {"role": "calibration", "engine": "nop"})


@pytest.mark.parametrize(
    "change",
    [
        {"skill_tool": False},
        {"phases": ["plan", "work"]},
        {"graph": True},
        {"skills": ["skills/a"]},
        {"role": "incumbent"},
        {"plugin": {"dir": "plugins/p", "version": "1.2.3"}},
    ],
)
def test_what_reaches_a_session_tells_them_apart(change: dict[str, Any]) -> None:
    assert not same(CLAUDE, CLAUDE | change)
    assert same(CLAUDE | change, CLAUDE | change)


def test_a_plugin_that_the_command_line_names_tells_them_apart() -> None:
    named = {"plugin_dir": "vendor/p", "plugin_version": "1.0.0"}
    assert not same(CLAUDE, CLAUDE | {"plugin": {}}, **named)
    assert same(CLAUDE | {"plugin": {}}, CLAUDE | {"plugin": {}}, **named)
    assert same(CLAUDE | {"plugin": {"dir": "../vendor/p", "version": "1.0.0"}}, CLAUDE | {"plugin": {}}, **named)


def test_arms_that_run_different_tasks_share_nothing() -> None:
    first, second = LOOP | {"only": ["parse-duration"]}, LOOP | {"only": ["other"]}
    assert not same(first, second)
    assert same(first, LOOP)
    assert not same(second, LOOP, tasks="other", arms="two")


@pytest.mark.parametrize("params", [{"provider": "auto"}, {"base_url": None}])
def test_a_default_that_is_spelt_out_is_no_difference(params: dict[str, Any]) -> None:
    assert same(LOOP, LOOP | {"params": params})
    assert not same(LOOP, LOOP | {"params": params | {"temperature": 0}})


def test_what_the_command_line_makes_equal_is_the_same() -> None:
    first, second = LOOP | {"params": {"provider": "anthropic"}}, LOOP | {"params": {"provider": "auto"}}
    assert not same(first, second)
    assert same(first, second, provider="anthropic")
    assert same(first, second, model="replay/x"), "a replay has no route"

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core import corpus, overrides
from bench.core.suite import FREE_ENGINES
from bench.errors import UsageError
from tests.core import suites

SUITE = suites.parse(suites.suite(tasks=[suites.TASK, suites.task(id="b,c", expensive=True)], limits={"budget_usd": 2}))


def test_variables_are_laid_over_the_suite():
    typed = {"model": "gpt-5", "effort": "high", "runs": "5", "workers": "2", "expensive": "1", "budget_usd": "7.0"}
    suite = corpus.override(SUITE, typed)
    assert (suite.model, suite.effort, suite.runs, suite.workers, suite.expensive) == ("gpt-5", "high", 5, 2, True)
    assert repr(suite.limits.budget_usd) == "7"
    assert corpus.override(SUITE, {"runs": 5}).runs == 5
    assert corpus.override(SUITE, {"effort": "none", "budget_usd": "none"}).limits.budget_usd is None


def test_where_models_are_served_is_a_setting_of_every_agents_arm():
    suite = corpus.override(SUITE, {"provider": "openai", "base_url": "http://127.0.0.1:1/v1"})
    given = {"provider": "openai", "base_url": "http://127.0.0.1:1/v1"}
    for arm, was in zip(suite.arms, SUITE.arms, strict=True):
        assert arm.params == (was.params if arm.engine in FREE_ENGINES else {**was.params, **given})
    back = corpus.override(suite, {"base_url": "none"})
    assert back.arm("incumbent").params["base_url"] is None


def test_none_leaves_the_suite_as_it_is():
    assert corpus.override(SUITE, dict.fromkeys(overrides.VARIABLES)) == SUITE
    assert corpus.override(SUITE, {}) == SUITE


def test_arms_and_tasks_are_named_in_any_order_and_kept_in_that_of_the_suite():
    suite = corpus.override(SUITE, {"arms": "incumbent, nop", "tasks": "b,c"})
    assert [arm.name for arm in suite.arms] == ["nop", "incumbent"]
    assert [task.id for task in suite.tasks] == ["b,c"]
    assert [t.id for t in corpus.override(SUITE, {"tasks": ["parse-duration"]}).tasks] == ["parse-duration"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("modle", "x", "modle=: unknown variable; did you mean 'model'?"),
        ("model", "", "model="),
        ("model", "x-latest", "pin a version"),
        ("effort", "hgih", "one of minimal"),
        ("runs", "0", "runs=: not a whole number from 1 to 1000"),
        ("runs", "1e3", "runs="),
        ("runs", "٣", "runs="),
        ("runs", True, "runs="),
        ("workers", "65", "from 1 to 64"),
        ("expensive", "perhaps", "expensive="),
        ("budget_usd", "-1", "budget_usd="),
        ("budget_usd", "nan", "budget_usd="),
        ("budget_usd", "inf", "budget_usd="),
        ("budget_usd", "lots", "budget_usd="),
        ("expected_usd", "nan", "expected_usd="),
        ("provider", "azure", "provider=: unknown provider 'azure'; one of auto, anthropic, openai"),
        ("base_url", "ftp://x", "base_url=: 'ftp://x' is not an http or https address"),
        ("base_url", "http://me:key@x", "holds credentials"),
        ("arms", "incumbant", "the suite has no arm 'incumbant'; did you mean 'incumbent'?"),
        ("tasks", "parse-durations", "did you mean 'parse-duration'?"),
        ("tasks", ",", "the selection is empty"),
    ],
)
def test_bad_values_are_refused_naming_the_variable(name, value, said):
    with pytest.raises(UsageError) as caught:
        corpus.override(SUITE, {name: value})
    assert said in str(caught.value)


@settings(deadline=None)
@given(st.sampled_from(sorted(overrides.VARIABLES)), st.text(max_size=12) | st.integers() | st.floats() | st.booleans())
def test_any_value_is_taken_or_refused(name, value):
    said = suites.fault(corpus.override, SUITE, {name: value})
    assert said is None or said.startswith(f"{name}=")


@settings(deadline=None)
@given(st.floats())
def test_a_budget_is_finite(value):
    if suites.fault(corpus.override, SUITE, {"budget_usd": value}) is None:
        assert math.isfinite(corpus.override(SUITE, {"budget_usd": value}).limits.budget_usd)

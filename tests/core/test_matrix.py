import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core import corpus, matrix
from bench.errors import CorpusError, UsageError
from tests.core import suites

SUITE = suites.parse(
    suites.suite(tasks=[suites.TASK, suites.task(id="slow", expensive=True), suites.task(id="zed")], runs=2)
)


def names(found):
    return [cell.name for cell in found.cells]


def selected(suite=SUITE, **given):
    return matrix.select(corpus.override(suite, given))


def test_task_major_then_run_then_arm_and_calibration_runs_once():
    found = matrix.select(SUITE)
    of_one = ["nop/0", "baseline/0", "incumbent/0", "candidate/0", "baseline/1", "incumbent/1", "candidate/1"]
    assert names(found) == [f"{task}/{rest}" for task in ("parse-duration", "zed") for rest in of_one]


def test_expensive_tasks_are_left_out_and_named():
    assert matrix.select(SUITE).skipped == ("slow",)
    found = selected(expensive="1")
    assert found.skipped == ()
    assert "slow/nop/0" in names(found)


def test_a_selection_keeps_the_order_of_the_suite():
    found = selected(arms="candidate,nop", tasks="zed", runs=1)
    assert names(found) == ["zed/nop/0", "zed/candidate/0"]
    assert found.skipped == ()


def test_an_arm_runs_only_its_tasks_and_a_task_without_a_cell_is_not_in_the_matrix():
    some = {"name": "some", "role": "comparator", "engine": "loop", "only": ["zed"]}
    suite = suites.parse(suites.suite(arms=["nop", some], tasks=[suites.TASK, suites.task(id="zed")], runs=2))
    assert names(matrix.select(suite)) == ["parse-duration/nop/0", "zed/nop/0", "zed/some/0", "zed/some/1"]
    found = selected(suite, arms="some")
    assert (names(found), [task.id for task in found.tasks]) == (["zed/some/0", "zed/some/1"], ["zed"])
    with pytest.raises(UsageError, match="the selection is empty; name a task and an arm that runs it"):
        selected(suite, arms="some", tasks="parse-duration")


def test_expensive_tasks_alone_are_an_empty_selection():
    with pytest.raises(UsageError, match="the selection is empty; add expensive=1"):
        selected(tasks="slow")


def test_a_model_is_asked_for_only_by_arms_that_use_one():
    matrix.check_ready(SUITE, [SUITE.arm("nop")])
    with pytest.raises(CorpusError, match="'baseline' needs a model"):
        matrix.check_ready(SUITE, SUITE.arms)
    matrix.check_ready(corpus.override(SUITE, {"model": "gpt-5"}), SUITE.arms)


def test_profiles_of_later_releases_are_refused_when_they_are_to_run():
    with pytest.raises(CorpusError, match="comes with a later release"):
        matrix.check_ready(suites.parse(suites.suite(profile="paired")), [])
    matrix.check_ready(suites.parse(suites.suite(profile="review")), [])


@settings(deadline=None)
@given(
    st.sets(st.sampled_from([arm.name for arm in SUITE.arms]), min_size=1),
    st.sets(st.sampled_from([task.id for task in SUITE.tasks]), min_size=1),
    st.integers(1, 5),
)
def test_every_cell_once(arms, tasks, runs):
    found = selected(arms=arms, tasks=tasks, runs=runs, expensive=True)
    assert len(set(names(found))) == len(found.cells) == len(tasks) * sum(1 if arm == "nop" else runs for arm in arms)

"""Sentences that a person reads first: they say what was shown, never more."""

from __future__ import annotations

from bench.core.stats import compare, words
from tests.core.stats.suites import rows


def said(counts: list[tuple[int, int]], others: list[tuple[int, int]], **fields: object) -> str:
    return "\n".join(compare(rows("new", counts, **fields), rows("old", others, **fields))["words"])


def test_a_shown_gain_is_said_with_its_interval() -> None:
    text = said([(3, 3)] * 12, [(1, 3)] * 12)
    assert "new resolves 100.0 % and old 33.3 % over 12 tasks with 3 runs of each: +66.7 points" in text
    assert "That is more than chance explains (95 % interval +" in text
    assert "in 8 of 10 cases" in text
    assert "Cost cannot be compared: cost_usd of a run of t000 is not known." in text


def test_not_shown_is_never_called_equal() -> None:
    text = said([(2, 3), (1, 3)] * 6, [(1, 3), (2, 3)] * 6, cost_usd=1.0)
    assert "That may be chance, but neither is it shown that the arms are equal" in text
    assert "more runs of both arms, about $" in text
    assert "Of pairs of identical runs, 67 % of those of old and 67 % of those of new disagree" in text


def test_few_tasks_speak_of_themselves_alone() -> None:
    text = said([(3, 3)] * 4, [(0, 3)] * 4)
    assert (
        "4 tasks can show nothing about other tasks: even if all agreed, the exact test could not go below p = 0.125."
        in text
    )
    assert "On these very tasks the difference is more than the noise of runs explains (p < 0.001)" in text
    assert "the noise of runs can explain the difference (p = 1.00)" in said([(1, 3)] * 4, [(1, 3)] * 4)


def test_replays_and_lopsided_runs_are_said_before_any_number() -> None:
    text = said([(1, 1)] * 7, [(1, 1)] * 8, replayed=True).splitlines()
    assert text[0] == words.DIAGNOSTIC
    assert text[1] == words.REPLAYED
    assert text[2].startswith("Take care: 7 runs of new were planned and 8 of old")


def test_the_short_sentence_says_whether_it_is_shown() -> None:
    def short(counts: list[tuple[int, int]], others: list[tuple[int, int]]) -> str:
        return words.short(compare(rows("new", counts), rows("old", others), []))

    assert short([(3, 3)] * 12, [(1, 3)] * 12) == "This gain is more than chance explains (p < 0.001 over 12 tasks)."
    assert short([(1, 3)] * 12, [(3, 3)] * 12).startswith("This loss is more than chance")
    assert short([(3, 3)] * 4, [(1, 3)] * 4) == "Whether this gain holds on other tasks, 4 tasks cannot show."
    assert short([(2, 3), (1, 3)] * 6, [(1, 3), (2, 3)] * 6).startswith("This equality may be chance: 95 % interval −")
    assert short([(1, 1)] * 9, [(0, 1)] * 9).startswith("Diagnostic only")
    assert short([], []).startswith("Nothing can be compared")

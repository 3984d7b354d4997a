"""Statistics of two arms on the same tasks: what the runs can show, and what they cannot. `compare` is the whole seam.

Tasks are the units, not runs: runs of one task are alike, and counting them as independent makes every interval too narrow.
Nothing here promotes or refuses; numpy and scipy are imported when a comparison is made, never on import.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.core.stats import compared

Row = Mapping[str, Any]


def compare(rows_a: Sequence[Row], rows_b: Sequence[Row], measures: Sequence[str] | None = None) -> dict[str, Any]:
    """Arm a (the new one) against arm b (the reference). Plain JSON: floats are finite, what is not known is null.

    `rows_a` and `rows_b` are compact rows (`aggregate.compact`) of one arm each, excluded and held-back runs included; their
    order does not matter. `measures` are field names: `resolved` (always taken), those of `medians.MEASURES` and of
    `medians.REVIEW_MEASURES`; by default `resolved`, `cost_usd`, and `review_weighted_f1` where a row has one.

    ->  a, b: {arm, planned, attempts, valid, excluded, not_run, resolved, error_kinds, median_cost_usd, replayed,
               pass: [{k, any, any_interval, all, all_interval, tasks}] (any = pass@k, all = pass^k, shares 0 to 1),
               flip_rate, flip_interval, flip_tasks}
        tasks: how many tasks both arms gave valid evidence on;  runs: [fewest, most] valid runs per task and arm there
        diagnostic: true where some task has fewer than 2 valid runs of an arm: nothing below may then decide anything
        lopsided: [sentence] (excluded or missing runs, or attempts, that differ between the arms)
        measures: {name: {
            unit: "points" (percentage points) | "percent" (of b's) | "score" (the measure's own unit),
            a, b: level of each arm (mean over tasks of the task's share resolved, else of the task's median),
            improvement: float | null, > 0 always means that a is BETTER (more resolved, cheaper, quicker, fewer);
                in "percent" it is 100·(1 − geometric mean of a's median / b's median over tasks),
            interval: [low, high] | null (cluster bootstrap over tasks; null below LEAST_TASKS tasks),
            excludes_zero, improves, worsens: bool (false where interval is null). `improves` also demands p ≤ 0.05
                and is false where `diagnostic` is true: the one to gate on; at a true difference of zero it holds in at
                most 2.5 % of suites,
            p: float | null (exact or sampled sign-flip test over tasks, two-sided), p_least: smallest p this design allows,
            p_runs: float | null (resolved only: stratified exact test, runs exchangeable within a task; speaks about
                these very tasks, not about others like them), test: what was done, in words,
            tasks: tasks used, per_task: [{task, a, b, improvement}],
            why: str | null (why improvement is null),
            smallest: float | null (smallest true improvement that this design would have seen at 80 % power), smallest_how,
            more: {target, runs_per_task, more_runs, usd, tasks_needed} | null (see `planning`)}}
        words: [sentence] in plain words: what the data can and cannot show
    Raises ValueError where the rows of a side name more than one arm.
    """
    return compared.of(rows_a, rows_b, measures)

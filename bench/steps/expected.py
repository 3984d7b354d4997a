"""Step `expected`: what the hidden tests do under the reference solution, learned by running them.

params {oracle_s, aliases}; inputs {template, gold, oracle, assets?} → body {ids, dropped: [{id, why}], loose, patched,
probes, gold_passes, bare, separates}. Tests that do not pass twice alike are dropped and named. The oracle also runs once on
the bare template: if it passes there, it cannot tell a solution from nothing.
"""

from __future__ import annotations

import re
from typing import Any

from bench.core import junit, planted, verdict
from bench.core.verdict import Ended, Expected, Report
from bench.effects.changes import Changes
from bench.effects.context import Context, Job, Made
from bench.effects.grading import patches, staging, verifiers
from bench.effects.grading.staging import Stage
from bench.effects.grading.verifiers import Hidden, Run
from bench.errors import StepFailed

KIND = "expected"
_ADDRESS = re.compile(r"0x[0-9a-f]{8,}| object at ", re.IGNORECASE)
"""What a default `repr` leaves in a parametrised id. Shorter hexadecimal numbers are a test's own."""


def make(job: Job, context: Context) -> Made:
    """Apply gold, run twice; run once without it."""
    assets = job.inputs.get("assets")
    staged = staging.stage(context.store, job.inputs["template"], assets, scratch=context.scratch, cancel=context.cancel)
    oracle = staging.hidden(context.store, job.inputs["oracle"], job.params.get("aliases"))
    patch = context.store.get(job.inputs["gold"].outputs["patch"].blob)
    solution = patches.to_changes(patch, staged.template, staged.commit, cancel=context.cancel)
    seconds = float(job.params["oracle_s"])
    first, second = _runs(staged, oracle, solution, seconds, 2)
    [bare] = _runs(staged, oracle, Changes(), seconds, 1)
    if oracle.pytest or oracle.report == "pytest":
        return Made(_by_ids(oracle, first, second, bare))
    return Made(_by_exit(first, second, bare))


def _runs(staged: Stage, oracle: Hidden, state: Changes, seconds: float, times: int) -> list[Run]:
    left_out = planted.found(staged.added(state), oracle.pythonpath)
    with staging.view(staged, state, remove=tuple(path for path, _ in left_out)) as view:
        return [
            verifiers.hidden(view, oracle, seconds=seconds, scratch=staged.scratch, cancel=staged.cancel)
            for _ in range(times)
        ]


def _by_ids(oracle: Hidden, first: Run, second: Run, bare: Run) -> dict[str, Any]:
    expected, dropped = verdict.learned(_report(oracle, first), _report(oracle, second))
    odd = {test for test in expected.ids if _ADDRESS.search(test)}
    dropped += [{"id": verdict.stem(test), "why": "its parameters hold an address"} for test in sorted(odd)]
    loose = expected.loose | {verdict.stem(test) for test in odd}
    final = Expected(expected.ids - odd, loose, expected.patched, expected.probes)
    passing = _passing(oracle, bare)
    return {
        "ids": sorted(final.ids),
        "dropped": sorted({tuple(row.items()): row for row in dropped}.values(), key=lambda row: (row["id"], row["why"])),
        "loose": sorted(loose),
        "patched": sorted(final.patched),
        "probes": sorted(final.probes),
        "gold_passes": bool(final.ids),
        "bare": sorted(final.ids & passing),
        "separates": bool(final.ids - passing),
    }


def _by_exit(first: Run, second: Run, bare: Run) -> dict[str, Any]:
    verdicts = [verdict.judge_exit(Ended(run.exit, run.limit)) for run in (first, second, bare)]
    if verdicts[0].passed != verdicts[1].passed:
        raise StepFailed("the oracle passed once and failed once under gold", remedy="make the oracle steady")
    limit = verdicts[0].limit or verdicts[1].limit
    if limit:
        raise StepFailed(f"the oracle hit its limit under gold ({limit})", remedy="raise limits.oracle_s")
    nothing: dict[str, Any] = {"ids": [], "dropped": [], "loose": [], "patched": [], "probes": [], "bare": []}
    return nothing | {"gold_passes": verdicts[0].passed, "separates": verdicts[0].passed and not verdicts[2].passed}


def _report(oracle: Hidden, run: Run) -> Report:
    """The report of a run under gold, which must be a run at all. Raises StepFailed."""
    if run.fault:
        raise StepFailed(run.fault, where="oracle", remedy="add pytest to the task's dependencies")
    if run.limit:
        raise StepFailed(f"the oracle hit its limit under gold ({run.limit})", remedy="raise limits.oracle_s")
    try:
        report = verdict.read(run.channel, run.nonce) if oracle.pytest else Report(0, dict(junit.read(run.channel)))
    except (verdict.Forged, ValueError) as error:
        raise StepFailed(f"the oracle gave no report under gold: {error}", remedy="try it with the gold patch") from None
    if report.status not in verdict.RAN:
        raise StepFailed(f"the oracle's tests do not run under gold (status {report.status} of pytest)")
    return report


def _passing(oracle: Hidden, run: Run) -> frozenset[str]:
    """Tests that pass on the bare template; a run that breaks there (imports that gold adds) passes none."""
    try:
        report = _report(oracle, run)
    except StepFailed:
        return frozenset()
    return frozenset(test for test, outcome in report.outcomes.items() if outcome == verdict.PASSED)

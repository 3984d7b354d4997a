"""Step `gold`: the reference solution of a task as one git patch, proved to apply to the template.

params {exclude, sdist?, sha256?}; inputs {template}; files {patch? | review?} → body {files, insertions, deletions}, outputs
{patch}. Either a patch under oracles/, or the difference to a later release without what `exclude` names (its tests, its
packaging files) and without what the template had taken out. Of a review task it is a valid review: body {verdict,
findings}, outputs {review}. Whether gold solves the task is not asked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from bench.core import review_artifact
from bench.core.records import Record
from bench.core.review_artifact import Fault
from bench.effects import changes, registry, trees
from bench.effects.changes import Changes
from bench.effects.context import Context, Job, Made
from bench.effects.grading import patches, staging
from bench.effects.template import CACHE
from bench.effects.trees import Entry
from bench.errors import CorpusError, StepFailed

KIND = "gold"


def make(job: Job, context: Context) -> Made:
    """Obtain, check, count."""
    if "review" in job.files:
        return _review(job, context)
    source = job.inputs["template"]
    staged = staging.stage(context.store, source, None, scratch=context.scratch, cancel=context.cancel)
    if job.params.get("sdist"):
        solution = _difference(job, context, source)
    elif "patch" in job.files:
        given = context.store.get(job.files["patch"].blob)
        solution = patches.to_changes(given, staged.template, staged.commit, cancel=context.cancel)
    else:
        raise CorpusError("has neither a patch nor an sdist", where="gold")
    if not solution.any:
        raise StepFailed("the reference solution changes nothing", where="gold", remedy="mend the task's gold")
    made = patches.of_changes(solution, staged.template, staged.commit, cancel=context.cancel)
    if made.truncated:
        raise StepFailed(f"the reference solution is a patch of more than {patches.MAX_PATCH} bytes", where="gold")
    given = given if "patch" in job.files and not job.params.get("sdist") else made.data
    body = {"files": made.files, "insertions": made.insertions, "deletions": made.deletions}
    return Made(body, {"patch": context.store.put(given)})


def _review(job: Job, context: Context) -> Made:
    found = review_artifact.parse(context.store.get(job.files["review"].blob))
    if isinstance(found, Fault):
        raise CorpusError(found.text, where="gold", remedy="mend the task's reference review")
    return Made({"verdict": found.verdict, "findings": len(found.findings)}, {"review": job.files["review"]})


def _difference(job: Job, context: Context, source: Record) -> Changes:
    after = registry.sdist_entries(context.store, str(job.params["sdist"]), job.params.get("sha256"))
    before = trees.entries_of(context.store.get(source.outputs["tree"].blob))
    hidden = [*source.body.get("removed", ()), *source.body.get("neutralised", ())]
    return difference(before, after, list(job.params.get("exclude") or ()), hidden)


def difference(before: Sequence[Entry], after: Sequence[Entry], exclude: Sequence[str], hidden: Sequence[str]) -> Changes:
    """What turns `before` into `after`, leaving alone what matches a glob of `exclude` or was `hidden` from the template.

    Bytecode is no part of a solution. Globs are fnmatch on relative paths (`*` crosses `/`); a hidden folder ends in `/`.
    """

    def counts(path: str) -> bool:
        out = CACHE in path.split("/") or any(fnmatchcase(path, glob) for glob in exclude)
        return not out and not any(path == h or (h.endswith("/") and path.startswith(h)) for h in hidden)

    old = {entry.path: entry for entry in before}
    new = {entry.path: entry for entry in after if counts(entry.path)}
    entries = [entry for path, entry in new.items() if old.get(path) != entry]
    kept = {entry.path for entry in after}
    deletions = [path for path in old if path not in kept and counts(path)]
    return changes.of(entries, deletions)

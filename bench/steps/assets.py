"""Step `assets`: a task's dependencies as one read-only tree, the sandbox interpreter's site-packages.

params {lock: [{name, version, filename, sha256, tree}], python, exclude_dist?} · files {"mount/<target>": packed tree} →
body {distributions: [[name, version]], tree, mounts: [{target, tree}]}, outputs {tree, "mount/<target>"}. It resolves
nothing (that is `doit relock`) and never installs the distribution of the source itself: tests would then grade that.
"""

from __future__ import annotations

from bench.core import relpath
from bench.core.protocols import PROTOCOLS
from bench.effects import distributions, mounts, trees, wheels
from bench.effects.context import Context, Job, Made
from bench.effects.distributions import Pinned
from bench.errors import Cancelled, CorpusError

KIND = "assets"
PROTOCOL = PROTOCOLS[KIND]
MOUNT = "mount/"


def make(job: Job, context: Context) -> Made:
    """Obtain each pinned distribution, merge, pack; pass the mounted trees through, checked."""
    lock = [distributions.pinned(raw) for raw in job.params["lock"]]
    _check(lock, str(job.params["python"]), job.params.get("exclude_dist"))
    named = []
    for item in lock:
        if context.cancel.is_set():
            raise Cancelled("the assets were not finished")
        entries = distributions.obtain(context.store, item, cancel=context.cancel, log=context.log)
        named.append((item.shown, entries))
    merged = wheels.merge(named)
    outputs = {"tree": context.store.put(trees.pack(merged))}
    pair = relpath.clash(list(job.files))
    if pair:
        raise CorpusError(f"two mounts clash: {pair[0]} and {pair[1]}", where="sandbox_dependencies")
    mounted = []
    for role in sorted(job.files):
        mounted.append(_mount(role, job, context))
        outputs[role] = job.files[role]
    body = {
        "distributions": sorted([item.name, item.version] for item in lock),
        "tree": trees.tree_digest(merged),
        "mounts": mounted,
    }
    return Made(body=body, outputs=outputs)


def _check(lock: list[Pinned], python: str, own: str | None) -> None:
    seen: list[Pinned] = []
    for item in lock:
        wheels.check_filename(item.filename, item.name, item.version, python)
        if own and wheels.same_project(item.name, own):
            raise CorpusError(
                f"{item.shown} is the source's own distribution, and would be graded instead of the workspace",
                where="dependencies.pip",
                remedy=f"take {item.name} and what needs it out of the dependencies",
            )
        for other in seen:
            if wheels.same_project(item.name, other.name):
                raise CorpusError(f"{other.shown} and {item.shown} are both locked", where="dependencies.pip")
        seen.append(item)


def _mount(role: str, job: Job, context: Context) -> dict[str, str]:
    target = role.removeprefix(MOUNT)
    fault = "is not a mount" if target == role else relpath.fault(target)
    if fault:
        raise CorpusError(f"the target {target!r} {fault}", where="sandbox_dependencies")
    entries = trees.entries_of(context.store.get(job.files[role].blob))
    mounts.check(entries, target)
    return {"target": target, "tree": trees.tree_digest(entries)}

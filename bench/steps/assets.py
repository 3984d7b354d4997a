"""Step `assets`: a task's dependencies as one read-only tree, the sandbox interpreter's site-packages.

params {lock: [{name, version, filename, sha256, tree}], python, exclude_dist?, mounts?: [{source, target, tree}]}; inputs
{template?} · hints {source} → body {distributions: [[name, version]], tree, mounts: [{target, tree}]}, outputs {tree,
"mount/<target>"}; each mount belongs at /workspace/<target>. It resolves nothing (that is `doit relock`) and never installs
the distribution of the source itself: tests would then grade that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.core import relpath
from bench.core.records import Blob
from bench.effects import dependencies, distributions, mounts, project, trees, wheels
from bench.effects.context import Context, Job, Made
from bench.effects.distributions import Pinned
from bench.errors import Cancelled, CorpusError

KIND = "assets"
"""Prefix of the outputs that are `sandbox_dependencies`."""


def make(job: Job, context: Context) -> Made:
    """Obtain each pinned distribution, merge, pack; read the mounted trees."""
    lock = [distributions.pinned(raw) for raw in job.params["lock"]]
    _check(lock, str(job.params["python"]), _own(job, context))
    mounted = list(job.params.get("mounts") or ())
    relpath.check_paths([str(mount["target"]) for mount in mounted], mounts.KEY)
    named = []
    for item in lock:
        _go_on(context)
        named.append((item.shown, distributions.obtain(context.store, item, log=context.log)))
    merged = wheels.merge(named)
    outputs = {"tree": context.store.put(trees.pack(merged))}
    for mount in mounted:
        _go_on(context)
        outputs[f"{dependencies.MOUNT}{mount['target']}"] = _mount(mount, job, context)
    body = {
        "distributions": sorted([item.name, item.version] for item in lock),
        "tree": trees.tree_digest(merged),
        "mounts": sorted(({"target": m["target"], "tree": m["tree"]} for m in mounted), key=lambda m: str(m["target"])),
    }
    return Made(body=body, outputs=outputs)


def _own(job: Job, context: Context) -> list[str]:
    """What the source is called: an sdist by its pin, any other by the metadata of its template."""
    if "template" not in job.inputs:
        return [str(job.params["exclude_dist"])] if job.params.get("exclude_dist") else []
    tree = context.store.get(job.inputs["template"].outputs["tree"].blob)
    return sorted(project.names(trees.entries_of(tree)))


def _check(lock: list[Pinned], python: str, own: list[str]) -> None:
    seen: list[Pinned] = []
    for item in lock:
        wheels.check_filename(item.filename, item.name, item.version, python)
        if any(wheels.same_project(item.name, name) for name in own):
            raise CorpusError(
                f"{item.shown} is the source's own distribution, and would be graded instead of the workspace",
                where="dependencies.pip",
                remedy=f"take {item.name} and what needs it out of the dependencies",
            )
        for other in seen:
            if wheels.same_project(item.name, other.name):
                raise CorpusError(f"{other.shown} and {item.shown} are both locked", where="dependencies.pip")
        seen.append(item)


def _mount(mount: Mapping[str, Any], job: Job, context: Context) -> Blob:
    entries = mounts.read(mounts.home(job.hints["source"], context.root), str(mount["source"]))
    if trees.tree_digest(entries) != mount["tree"]:
        raise CorpusError("changed since the run began", where=f"{mounts.KEY}: {mount['source']}", remedy="run doit again")
    return context.store.put(trees.pack(entries))


def _go_on(context: Context) -> None:
    if context.cancel.is_set():
        raise Cancelled("the assets were not finished")

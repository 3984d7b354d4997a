"""Step `oracle`: the hidden files and command of a task, sealed before any session; their bytes stand in the store alone.

params {oracle: {command | pytest, report, paths, pythonpath, args}, files: [{target, sdist?, sha256?, path?}]} · files
{target: blob} for those under oracles/ → body {command, pytest, report, paths, pythonpath, args, files: [{target, digest,
bytes}], command_digest, manifest_digest}, outputs {"file/<target>"}. A `path` that names a directory of the sdist gives all
files below it, under `target`/. Limits: `bench.core.sealing`. Review labels are read, so that a
wrong label is told before anything is paid for. Nothing is run here.
"""

from __future__ import annotations

from bench.core import labels, sealing
from bench.core.suite import REVIEW_LABELS
from bench.effects import registry
from bench.effects.context import Context, Job, Made
from bench.effects.trees import Entry
from bench.errors import CorpusError

KIND = "oracle"


def make(job: Job, context: Context) -> Made:
    """Gather, check, digest, seal."""
    local, borne = _gather(job, context)
    sealing.check_files(local, borne)
    every = local | borne
    if REVIEW_LABELS in every:
        labels.parse(every[REVIEW_LABELS], f"oracle: {REVIEW_LABELS}")
    command = sealing.check_command(job.params["oracle"], list(every))
    outputs = {f"file/{target}": context.store.put(every[target]) for target in sorted(every)}
    files = [
        {"target": target, "digest": outputs[f"file/{target}"].blob, "bytes": len(every[target])} for target in sorted(every)
    ]
    body = command | {
        "files": files,
        "command_digest": sealing.command_digest(command),
        "manifest_digest": sealing.manifest_digest(files),
    }
    return Made(body=body, outputs=outputs)


def _gather(job: Job, context: Context) -> tuple[dict[str, bytes], dict[str, bytes]]:
    local: dict[str, bytes] = {}
    borne: dict[str, bytes] = {}
    releases: dict[str, list[Entry]] = {}
    for entry in job.params["files"]:
        target = str(entry["target"])
        if entry.get("sdist") is None:
            found = {target: _local(job, context, target)}
        else:
            pinned = f"{entry['sdist']} {entry.get('sha256')}"
            if pinned not in releases:
                releases[pinned] = registry.sdist_entries(context.store, str(entry["sdist"]), entry.get("sha256"))
            found = _select(releases[pinned], str(entry["path"]), target, str(entry["sdist"]))
        for place, data in found.items():
            if place in local or place in borne:
                raise CorpusError(f"two files have the target {place}", where="oracle")
            (local if entry.get("sdist") is None else borne)[place] = data
    return local, borne


def _local(job: Job, context: Context, target: str) -> bytes:
    if target not in job.files:
        raise CorpusError(f"the file for target {target} was not read", where="oracle")
    return context.store.get(job.files[target].blob)


def _select(entries: list[Entry], path: str, target: str, sdist: str) -> dict[str, bytes]:
    """The file at `path`, or all files below the directory `path`, by target."""
    folder = path.rstrip("/")
    found = {}
    for entry in entries:
        if entry.path == folder or entry.path.startswith(f"{folder}/"):
            if entry.mode == "120000":
                raise CorpusError("is a symbolic link", where=f"oracle: {sdist}: {entry.path}")
            found[target.rstrip("/") + entry.path.removeprefix(folder)] = entry.data
    if not found:
        raise CorpusError(
            f"holds no {path}", where=f"oracle: {sdist}", remedy="name a file or directory below its top directory"
        )
    return found

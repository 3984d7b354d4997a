"""Step `template`: a source at one revision, sanitised, as one tree and the parentless commit that holds it."""

from __future__ import annotations

import os

from bench.core import digest, markers
from bench.effects import git, sources, template, trees
from bench.effects.context import Context, Job, Made
from bench.effects.sources import Fetched
from bench.errors import SourceError

KIND = "template"


def make(job: Job, context: Context) -> Made:
    """body {commit, tree, files, bytes, removed, neutralised, revision}, outputs {tree}. Raises SourceError, CorpusError."""
    keyed, spec = job.params["source"], job.hints["source"]
    source = sources.create(keyed["kind"])
    fetched = source.fetch(spec, context.root, context.scratch, context.cancel)
    _check_snapshot(fetched, job)
    listed = tuple(job.params["markers"])
    clean = template.sanitise(fetched.entries, lambda paths: markers.harness_paths(paths, listed))
    tree = context.store.put(trees.pack(clean.entries))
    commit = git.commit_of(clean.entries)
    context.log(f"{len(clean.entries)} files, {len(clean.removed)} removed, commit {commit}")
    # Expanding proves the repository now, rather than in the first session that was about to be paid for.
    template.expand(context.store, tree.blob, commit)
    body = {
        "commit": commit,
        "tree": trees.tree_digest(clean.entries),
        "files": len(clean.entries),
        "bytes": sum(len(entry.data) for entry in clean.entries),
        "removed": clean.removed,
        "neutralised": clean.neutralised,
        "revision": fetched.revision,
    }
    return Made(body, {"tree": tree})


def _check_snapshot(fetched: Fetched, job: Job) -> None:
    """A source that was edited since its key was computed must not pass for the one that was keyed."""
    keyed = job.params["source"]
    pinned = keyed.get("commit") or keyed.get("sha256") or fetched.revision
    if pinned != fetched.revision:
        raise SourceError(f"the source is at {fetched.revision}, its key says {pinned}", remedy="run doit again")
    if keyed["kind"] != "dir":
        return
    links, programs = keyed.get("links", {}), keyed.get("executable", [])
    wanted = {path: (git.LINK, digest.of_bytes(os.fsencode(text))) for path, text in links.items()}
    for path, blob in job.files.items():
        wanted[path] = (git.EXECUTABLE if path in programs else git.REGULAR, blob.blob)
    found = {entry.path: (entry.mode, digest.of_bytes(entry.data)) for entry in fetched.entries}
    changed = sorted(path for path in wanted.keys() | found.keys() if wanted.get(path) != found.get(path))
    if changed:
        raise SourceError("was edited while doit ran", where=changed[0], remedy="run doit again")

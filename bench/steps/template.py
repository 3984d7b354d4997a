"""Step `template`: a source at one revision, sanitised, as one tree and the parentless commit that holds it."""

from __future__ import annotations

from bench.core import markers
from bench.effects import git, sources, template, trees
from bench.effects.context import Context, Job, Made
from bench.errors import SourceError

KIND = "template"
PROTOCOL = 1


def make(job: Job, context: Context) -> Made:
    """body {commit, tree, files, bytes, removed, neutralised, revision}, outputs {tree}. Raises SourceError, CorpusError."""
    keyed, spec = job.params["source"], job.hints["source"]
    source = sources.create(keyed["kind"])
    fetched = source.fetch(spec, context.root, context.scratch, context.cancel)
    pinned = next((keyed[name] for name in ("commit", "sha256", "tree") if keyed.get(name)), fetched.revision)
    if pinned != fetched.revision:
        raise SourceError(f"the source is at {fetched.revision}, its key says {pinned}", remedy="run doit again")
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

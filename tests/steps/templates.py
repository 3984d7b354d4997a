"""The template step from a repository or directory to the expanded tree, as the pipeline would call it."""

import threading

from bench.effects import listing, template
from bench.effects.context import Context, Job
from bench.effects.store import open_store
from bench.steps import template as step


def expanded(home, repo, commit=None, markers=()):
    """Expand a template below `home`: a git source at `commit`, or the working files of `repo` without one."""
    home.mkdir(exist_ok=True)
    scratch = home / "scratch"
    scratch.mkdir()
    store = open_store(home / "store")
    keyed, spec, files = {"kind": "git", "commit": commit}, {"git": str(repo), "commit": commit}, {}
    if commit is None:
        seen = listing.below(repo, links=True, where="repo")
        keyed, spec = {"kind": "dir", "links": seen.links, "executable": seen.executable}, {"dir": str(repo)}
        files = {path: store.put((repo / path).read_bytes()) for path in seen.files}
    job = Job("template", "t", "k", {"source": keyed, "markers": list(markers)}, {}, files, {"source": spec})
    made = step.make(job, Context(store, home, scratch, threading.Event(), str))
    return template.expand(store, made.outputs["tree"].blob, made.body["commit"])

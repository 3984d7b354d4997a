"""Small templates and sessions for the tests of grading: real sandbox, real git, everything below tmp_path."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from bench.effects import changes, git, template, trees
from bench.effects.changes import Changes
from bench.effects.grading import verifiers
from bench.effects.grading.verifiers import Hidden, Run, View
from bench.effects.sandbox import Finished, Limits, Spec, Workspace, runner
from bench.effects.store import Store, open_store
from bench.effects.trees import Entry

Files = Mapping[str, str | bytes]


def entries(files: Files) -> list[Entry]:
    """Regular files by path; text or bytes."""
    return [Entry(path, "100644", data.encode() if isinstance(data, str) else data) for path, data in sorted(files.items())]


class Room:
    """A template in a store, and one session's workspace on top of it."""

    def __init__(self, tmp_path: Path, files: Files | list[Entry], backing: str = "overlay") -> None:
        self.tmp = tmp_path
        self.cancel = threading.Event()
        self.store: Store = open_store(tmp_path / "store")
        self.files = files if isinstance(files, list) else entries(files)
        self.commit = git.commit_of(self.files)
        self.blob = self.store.put(trees.pack(self.files))
        self.template = template.expand(self.store, self.blob.blob, self.commit)
        self.backing = backing
        self.workspace = self.layer("session")

    def layer(self, name: str) -> Workspace:
        """A fresh, prepared workspace."""
        made = Workspace(self.template, self.tmp / name, self.backing)
        runner.prepare(made)
        return made

    def agent(self, script: str, *, stdin: bytes = b"") -> Finished:
        """What an agent does in its session: a Python script, which must end well."""
        spec = Spec(("python3", "-c", script), workspace=self.workspace, stdin=stdin, limits=Limits(seconds=60))
        done = runner.run(spec)
        assert done.ok, done
        return done

    def shell(self, script: str, **more: object) -> Finished:
        """The same in shell."""
        done = runner.run(Spec(("sh", "-ec", script), workspace=self.workspace, limits=Limits(seconds=60)))
        assert done.ok, done
        return done

    def collect(self) -> Changes:
        """What the session changed."""
        return changes.collect(self.workspace, cancel=self.cancel)

    def view(self, remove: tuple[str, ...] = ()) -> View:
        """The session's state as verifiers see it, with this process's own pytest as the dependency."""
        frozen = Workspace(self.template, self.workspace.upper, self.backing, frozen=True, remove=remove)
        return View(frozen, dependencies=runner_tree())

    def hidden(self, tests: Files, *, view: View | None = None, seconds: float = 60, **more: object) -> Run:
        """One hidden pytest run of these tests over `src`."""
        files = {path: data.encode() if isinstance(data, str) else data for path, data in tests.items()}
        paths = tuple(path for path in files if Path(path).name.startswith("test_"))
        oracle = Hidden(files, pytest=True, paths=paths, **({"pythonpath": ("src",)} | more))  # type: ignore[arg-type]
        return verifiers.hidden(view or self.view(), oracle, seconds=seconds, scratch=self.tmp, cancel=self.cancel)


def runner_tree() -> Path:
    """site-packages of this very process: it holds pytest."""
    return Path(next(p for p in sys.path if p.endswith("site-packages")))

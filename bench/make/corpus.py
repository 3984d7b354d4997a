"""Reads the corpus for the pipeline: each file once, validated once per content."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import bench.layout as layout
import bench.schemas as schemas
from bench.core import corpus, lock, prices
from bench.core.suite import Suite
from bench.effects import files
from bench.errors import CorpusError, UsageError
from bench.make.index import ABSENT
from bench.make.step import Step
from bench.make.workspace import Workspace

Read = TypeVar("Read")
LIMIT = 4 << 20
"""Bytes of one corpus file."""
ARMS = "arms.yaml"
CASSETTE_LIMIT = 64 << 20
CASSETTES = "cassettes:"
"""Row of the index that remembers whose answers a cassette holds."""
VALID = "valid:"
"""Row of the index that remembers which texts passed their JSON Schema."""


def load_suites(workspace: Workspace) -> dict[str, Suite]:
    """Every suite of the corpus by name, sorted. Raises CorpusError with file, line and key."""
    folder = workspace.layout.corpus
    if not folder.is_dir():
        raise UsageError(f"no {layout.CORPUS}/ here", remedy="run doit in a workspace, or make one with `doit init DIR`")
    arms = folder / ARMS
    workspace.index.load()
    arms_digest = workspace.index.file_digest(f"{layout.CORPUS}/{ARMS}") if arms.is_file() else ""
    arms_text = _text(workspace, f"{layout.CORPUS}/{ARMS}") if arms.is_file() else None
    suites: dict[str, Suite] = {}
    for path in sorted(folder.glob("*.yaml")):
        if path.name == ARMS:
            continue
        relative = f"{layout.CORPUS}/{path.name}"
        # The digest comes first: a file that is edited in between must not be taken for what was read.
        both = workspace.index.file_digest(relative) + arms_digest
        text = _text(workspace, relative)
        read = partial(corpus.parse_suite, text, path=relative, arms_text=arms_text, arms_path=f"{layout.CORPUS}/{ARMS}")
        suite = _checked(workspace, relative, both, ("suite", "arms"), read)
        suites[suite.name] = suite
    if not suites:
        raise CorpusError("no suite here", where=f"{layout.CORPUS}/", remedy="add a <suite>.yaml")
    return suites


def load_lock(workspace: Workspace, suite: str) -> lock.Lock:
    """What was resolved for a suite; an empty lock when there is no file."""
    path = workspace.layout.suite_lock(suite)
    relative = f"{layout.CORPUS}/{path.name}"
    content = workspace.index.file_digest(relative)
    if not path.is_file():
        return lock.Lock(relative, absent=True)
    return _checked(workspace, relative, content, ("lock",), partial(lock.parse, _text(workspace, relative), relative))


def load_prices(workspace: Workspace) -> prices.Table:
    """Model → USD per million tokens; empty when the workspace has no price table."""
    where = f"{layout.CORPUS}/{prices.FILE}"
    content = workspace.index.file_digest(where)
    if content == ABSENT:
        return {}
    return _checked(workspace, where, content, ("prices",), partial(prices.parse, _text(workspace, where), where))


def _checked(workspace: Workspace, path: str, content: str, names: Sequence[str], read: Callable[..., Read]) -> Read:
    """What `read(validated=…)` gives: bytes that passed these schemas, as they are now, are not held against them again."""
    index = workspace.index
    index.load()
    passed = content + "".join(index.file_digest(str(schemas.path(name))) for name in names)
    valid = index.rows.setdefault(VALID, {})
    known = valid.get(path) == passed
    found = read(validated=known)
    if not known:
        valid[path] = passed
        index.pending.append(VALID)
    return found


def recorded_model(workspace: Workspace, path: str) -> str | None:
    """The model that a cassette recorded, whose list price its tokens have; the file is read once per content."""
    if not (workspace.layout.root / path).is_file():
        raise CorpusError("there is no such cassette", where=path, remedy="record one, or name another model")
    known = workspace.index.rows.setdefault(CASSETTES, {})
    content = workspace.index.file_digest(path)
    if known.get(path, [None])[0] != content:
        try:
            model = json.loads(files.read_regular(workspace.layout.root / path, CASSETTE_LIMIT)).get("model")
        except (ValueError, AttributeError):
            raise CorpusError("is not a cassette", where=path) from None
        known[path] = [content, model]
        workspace.index.pending.append(CASSETTES)
    found = known[path][1]
    return found if isinstance(found, str) else None


def check_files(workspace: Workspace, steps: Iterable[Step]) -> None:
    """Raise CorpusError for a file that a step names and that is no regular file, before anything runs."""
    for step in steps:
        for path in step.files.values():
            try:
                mode = Path(workspace.layout.root, path).lstat().st_mode
            except OSError as error:
                why = (error.strerror or "cannot be read").lower()
                raise CorpusError(why, where=path, remedy=f"{step.id} needs it") from None
            if not stat.S_ISREG(mode):
                raise CorpusError("is not a regular file", where=path, remedy=f"{step.id} needs one there")


def _text(workspace: Workspace, path: str) -> str:
    return files.read_text(workspace.layout.root / path, LIMIT, path)

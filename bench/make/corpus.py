"""Reads the corpus for the pipeline: each file once, validated once per content."""

from __future__ import annotations

import json

from bench import layout
from bench.core import corpus, lock
from bench.core.suite import Suite
from bench.effects import files
from bench.errors import CorpusError, UsageError
from bench.make.workspace import Workspace

LIMIT = 4 << 20
"""Bytes of one corpus file."""
ARMS = "arms.yaml"
VALID = "valid:"
"""Row of the index that remembers which texts passed their JSON Schema."""


def load_suites(workspace: Workspace) -> dict[str, Suite]:
    """Every suite of the corpus by name, sorted. Raises CorpusError with file, line and key."""
    folder = workspace.layout.corpus
    if not folder.is_dir():
        raise UsageError(f"no {layout.CORPUS}/ here", remedy="run doit in a workspace, or make one with `doit init DIR`")
    arms = folder / ARMS
    arms_text = _text(workspace, f"{layout.CORPUS}/{ARMS}") if arms.is_file() else None
    workspace.index.load()
    valid = workspace.index.rows.setdefault(VALID, {})
    suites: dict[str, Suite] = {}
    for path in sorted(folder.glob("*.yaml")):
        if path.name == ARMS:
            continue
        relative = f"{layout.CORPUS}/{path.name}"
        text = _text(workspace, relative)
        both = workspace.index.file_digest(relative) + (
            workspace.index.file_digest(f"{layout.CORPUS}/{ARMS}") if arms_text is not None else ""
        )
        suite = corpus.parse_suite(
            text,
            path=relative,
            arms_text=arms_text,
            arms_path=f"{layout.CORPUS}/{ARMS}",
            validated=valid.get(relative) == both,
        )
        if suite.name != path.stem:
            raise CorpusError(f"the suite calls itself {suite.name!r}", where=relative, remedy="name it like its file")
        if valid.get(relative) != both:
            valid[relative] = both
            workspace.index.pending.append(VALID)
        suites[suite.name] = suite
    if not suites:
        raise CorpusError("no suite here", where=f"{layout.CORPUS}/", remedy="add a <suite>.yaml")
    return suites


def load_lock(workspace: Workspace, suite: str) -> lock.Lock:
    """What was resolved for a suite; an empty lock when there is no file."""
    path = workspace.layout.suite_lock(suite)
    relative = f"{layout.CORPUS}/{path.name}"
    text = _text(workspace, relative) if path.is_file() else '{"schema":1,"sources":{},"dependencies":{}}'
    return lock.parse(text, relative)


def load_prices(workspace: Workspace) -> dict[str, dict[str, float]]:
    """Model → USD per million tokens; empty when the workspace has no price table."""
    path = workspace.layout.corpus / "prices.json"
    if not path.is_file():
        return {}
    where = f"{layout.CORPUS}/{path.name}"
    try:
        table = json.loads(_text(workspace, where))
        return {model: dict(row) for model, row in table["models"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CorpusError("not a price table", where=where, remedy='give {"models": {NAME: {input, output, …}}}') from None


def _text(workspace: Workspace, path: str) -> str:
    data = files.read_regular(workspace.layout.root / path, LIMIT)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(f"is not UTF-8 (byte {error.start})", where=path) from None

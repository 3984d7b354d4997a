"""Reads the corpus for the pipeline: each file once, validated once per content."""

from __future__ import annotations

import json

from bench import layout
from bench.core import corpus, lock, prices
from bench.core.suite import Suite
from bench.effects import files
from bench.errors import CorpusError, UsageError
from bench.make.workspace import Workspace

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


def load_prices(workspace: Workspace) -> prices.Table:
    """Model → USD per million tokens; empty when the workspace has no price table."""
    path = workspace.layout.corpus / "prices.json"
    return (
        prices.parse(_text(workspace, where), where) if path.is_file() and (where := f"{layout.CORPUS}/{path.name}") else {}
    )


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


def _text(workspace: Workspace, path: str) -> str:
    data = files.read_regular(workspace.layout.root / path, LIMIT)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(f"is not UTF-8 (byte {error.start})", where=path) from None

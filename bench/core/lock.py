"""The lock beside a suite: what its refs and requirements were resolved to, once, by `doit relock`.

    {"schema": 1, "sources": {source id: {"commit": …} | {"sha256": …}},
     "dependencies": {requirements id: [{"name", "version", "filename", "sha256", "tree"}]}}

Pure: looks things up and never resolves. Ids are short slugs for people, with a digest where a slug alone could clash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.core import digest, schema, yamlmap
from bench.core.names import shown
from bench.errors import CorpusError

SCHEMA = 1
ENTRY = ("name", "version", "filename", "sha256", "tree")
"""Keys of a pinned distribution."""
_COMMIT = re.compile(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}")
_ODD = re.compile(r"[^A-Za-z0-9._+-]+")
_DIGITS = 8
"""Hex digits of a digest in an id: tells a workspace's few sources apart; never an identity."""


@dataclass(frozen=True, slots=True)
class Lock:
    """What a lock file says; `path` names it in errors."""

    path: str
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    dependencies: Mapping[str, tuple[Mapping[str, str], ...]] = field(default_factory=dict)
    absent: bool = False
    """There is no such file: right for a suite that has nothing to resolve."""

    def source(self, source: Mapping[str, Any]) -> dict[str, Any]:
        """The task's source, pinned: {dir} · {git, ref, commit} · {sdist, sha256}.

        Needs no entry for a dir, a full commit id, or an sdist whose sha256 stands in the suite. Raises CorpusError.
        """
        if not needs_entry(source):
            return dict(source) | ({"commit": source["ref"].lower()} if "git" in source else {})
        name = source_id(source)
        if name not in self.sources:
            raise self._stale(f"the source {shown(name)}")
        return dict(source) | dict(self.sources[name])

    def requirements(self, requirements: Iterable[str]) -> tuple[Mapping[str, str], ...]:
        """The pinned distributions of a requirement set; empty for an empty one. Raises CorpusError."""
        wanted = tuple(requirements)
        if not wanted:
            return ()
        name = requirements_id(wanted)
        if name not in self.dependencies:
            raise self._stale(f"the requirements {shown(name)}")
        return self.dependencies[name]

    def _stale(self, what: str) -> CorpusError:
        suite = self.path.rpartition("/")[2].removesuffix(".lock.json")
        why = f"there is no lock file yet, and {what} needs one" if self.absent else f"{what} is not in the lock"
        return CorpusError(why, where=self.path, remedy=f"run doit relock {suite}")


def needs_entry(source: Mapping[str, Any]) -> bool:
    """Whether a source has to be resolved before it can be used."""
    if "git" in source:
        return not _COMMIT.fullmatch(source["ref"])
    return "sdist" in source and "sha256" not in source


def parse(text: str, path: str, *, validated: bool = False) -> Lock:
    """Read a lock file; `validated`: this text has passed the schema before. Raises CorpusError with `path:line:column`."""
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as error:
        suite = path.rpartition("/")[2].removesuffix(".lock.json")
        where = f"{path}:{error.lineno}:{error.colno}"
        raise CorpusError(f"not JSON: {error.msg}", where=where, remedy=f"run doit relock {suite}") from None
    except (ValueError, RecursionError):
        validated = False  # the reader that knows lines and columns words it
    if not validated:
        document = yamlmap.load(text, path)
        schema.check(document, "lock", path)
        raw = document.plain()
    pinned = {name: tuple(entries) for name, entries in raw["dependencies"].items()}
    return Lock(path, raw["sources"], pinned)


def dump(lock: Lock) -> bytes:
    """A lock file: sorted, indented for diffs, with a final newline."""
    said = {
        "schema": SCHEMA,
        "sources": {name: dict(pin) for name, pin in lock.sources.items()},
        "dependencies": {name: [dict(entry) for entry in pinned] for name, pinned in lock.dependencies.items()},
    }
    return (json.dumps(said, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()


def source_id(source: Mapping[str, Any]) -> str:
    """A short name: `clockwork` for {dir: repos/clockwork}, `click-8.1.7` for an sdist, `<repo>-<ref>-<digest>` for git.

    Directories elsewhere than directly under repos/ carry a digest too, since their last part need not be unique.
    """
    if "dir" in source:
        parent, _, last = source["dir"].rpartition("/")
        return _slug(last) if parent == "repos" and _slug(last) == last else f"{_slug(last)}-{_short(source)}"
    if "git" in source:
        repository = source["git"].rstrip("/").rpartition("/")[2].removesuffix(".git")
        ref = source["ref"][:12] if _COMMIT.fullmatch(source["ref"]) else source["ref"]
        return f"{_slug(repository)}-{_slug(ref)}-{_short(source)}"
    name, _, version = source["sdist"].partition("==")
    return f"{_distribution(name)}-{_slug(version)}"


def requirements_id(requirements: Iterable[str]) -> str:
    """A short name of a set of requirements, whatever their order: `pytest-9.0.3`, else first name, count and digest."""
    wanted = sorted({re.sub(r"\s+", "", r) for r in requirements}, key=str.casefold)
    if not wanted:
        return "none"
    exact = re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+_-]+)", wanted[0])
    if len(wanted) == 1 and exact:
        return f"{_distribution(exact[1])}-{_slug(exact[2])}"
    first = _distribution(re.split(r"[^A-Za-z0-9._-]", wanted[0])[0])
    more = f"-and-{len(wanted) - 1}-more" if len(wanted) > 1 else ""
    return f"{first}{more}-{_short(wanted)}"


def _distribution(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _slug(text: str) -> str:
    return _ODD.sub("-", text).strip("-.")[:48] or "x"


def _short(value: Any) -> str:
    said = dict(value) if isinstance(value, Mapping) else list(value)
    return digest.of("assay/id/1", said).removeprefix(digest.PREFIX)[:_DIGITS]

"""`git` sources: the files of one commit, read as objects out of a fetch into scratch. Nothing is ever checked out.

No clone and so no hard links, alternates or templates; no filter, hook or line-ending rule; all of the commit or none of
it: a submodule or an LFS pointer is refused by path before any file is read.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.effects import git, proc
from bench.effects.sources import Fetched, rules
from bench.effects.trees import Entry
from bench.errors import CorpusError, SourceError
from bench.layout import Layout

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[\w.-]+@[\w.-]+:")
_USER = re.compile(r"(?<=//)[^/@\s]+@")
_GITLINK, _FILE, _EXECUTABLE, _LINK = "160000", "100644", "100755", "120000"


@dataclass(frozen=True, slots=True)
class _Row:
    mode: str
    oid: str
    size: int
    path: str


class GitRepository:
    """Files of a commit in a repository on this machine or elsewhere."""

    def fetch(self, spec: Mapping[str, Any], root: Path, scratch: Path, cancel: threading.Event) -> Fetched:
        """Fetch the pinned commit alone where the server allows it, else all refs. `revision` is the commit."""
        where = shown(spec)
        commit = str(spec.get("commit") or "").lower()
        if not _COMMIT.fullmatch(commit):
            raise CorpusError("no commit is pinned", where=where, remedy="doit relock")
        address = _address(spec, root)
        home = scratch / "fetch"
        home.mkdir()
        kind = "sha256" if len(commit) == 64 else "sha1"
        git.output(["init", "--quiet", "--bare", "--template=", f"--object-format={kind}", "."], cwd=home)
        self._fetch(address, commit, where, home, cancel)
        rows = _listing(commit, home)
        return Fetched(_read(rows, home, cancel), commit)

    def resolve(self, spec: Mapping[str, Any], root: Path) -> dict[str, Any]:
        """{commit} of `ref`: a full commit as it is, else a full ref name, tag, branch, or a clone's remote branch."""
        ref = str(spec.get("ref") or "HEAD")
        if _COMMIT.fullmatch(ref.lower()):
            return {"commit": ref.lower()}
        where = shown(spec)
        done = git.run(["ls-remote", "--", _address(spec, root)], cwd=root, seconds=git.FETCH_S)
        if done.exit != 0:
            raise _failed("cannot be listed", done, spec, root)
        rows = [line.split("\t", 1) for line in done.stdout.decode("utf-8", "surrogateescape").splitlines()]
        commits = {name: oid for oid, name in rows}
        named = [name for name in (ref, f"refs/tags/{ref}", f"refs/heads/{ref}") if name in commits]
        named = named or [name for name in (f"refs/remotes/origin/{ref}",) if name in commits]
        found = {commits.get(f"{name}^{{}}", commits[name]) for name in named}
        if len(found) == 1:
            return {"commit": found.pop()}
        what = f"ref {ref!r} names both a tag and a branch" if found else f"has no branch or tag {ref!r}"
        raise CorpusError(what, where=where, remedy="write refs/tags/…, refs/heads/… or a full commit id")

    def _fetch(self, address: str, commit: str, where: str, home: Path, cancel: threading.Event) -> None:
        quiet = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
        ]
        attempts = (["--depth=1", "--", address, commit], ["--", address, "+refs/*:refs/fetched/*"])
        for attempt in attempts:
            done = git.run([*quiet, *attempt], cwd=home, seconds=git.FETCH_S, cancel=cancel)
            if done.exit == 0 and git.run(["cat-file", "-e", f"{commit}^{{tree}}"], cwd=home).exit == 0:
                return
        if done.exit != 0:
            raise SourceError(f"cannot be fetched: {_redacted(done, address, where)}", where=where)
        raise SourceError(f"commit {commit} is not in the repository", where=where, remedy="doit relock")


def shown(spec: Mapping[str, Any]) -> str:
    """The source as the suite names it, without any user name or password."""
    return f"source.git: {_USER.sub('', str(spec['git']))}"


def _address(spec: Mapping[str, Any], root: Path) -> str:
    text = str(spec["git"])
    if _ADDRESS.match(text):
        return text
    path = Layout(root).corpus / Path(text).expanduser()
    if not path.is_dir():
        raise CorpusError("is neither a directory nor an address", where=shown(spec))
    return str(path.resolve())


def _redacted(done: proc.Done, address: str, where: str) -> str:
    return _USER.sub("", done.tail().replace(address, where.partition(": ")[2]))


def _failed(what: str, done: proc.Done, spec: Mapping[str, Any], root: Path) -> SourceError:
    return SourceError(f"{what}: {_redacted(done, _address(spec, root), shown(spec))}", where=shown(spec))


def _listing(commit: str, home: Path) -> list[_Row]:
    rows, total = [], 0
    for line in git.output(["ls-tree", "-r", "-l", "-z", "--full-tree", commit], cwd=home).split(b"\0")[:-1]:
        meta, _, name = line.partition(b"\t")
        mode, _kind, oid, size = meta.decode("ascii").split()
        path = name.decode("utf-8", "surrogateescape")
        if mode == _GITLINK:
            raise SourceError(
                "is a submodule, whose files this repository does not hold",
                where=rules.shown(path),
                remedy="clone with --recurse-submodules and use a dir source",
            )
        rules.check_name(path)
        rows.append(_Row(mode, oid, int(size), path))
        total += int(size)
    rules.check_size(len(rows), total)
    return rows


def _read(rows: list[_Row], home: Path, cancel: threading.Event) -> list[Entry]:
    wanted = "".join(f"{row.oid}\n" for row in rows).encode()
    done = git.run(["cat-file", "--batch"], cwd=home, stdin=wanted, seconds=git.FETCH_S, cancel=cancel)
    data, at, entries = memoryview(done.stdout), 0, []
    for row in rows:
        header = b"%s blob %d\n" % (row.oid.encode(), row.size)
        start = at + len(header)
        if bytes(data[at:start]) != header or len(data) <= start + row.size:
            raise SourceError("the object is missing or damaged", where=rules.shown(row.path))
        mode = row.mode if row.mode in (_EXECUTABLE, _LINK) else _FILE
        entries.append(Entry(row.path, mode, bytes(data[start : start + row.size])))
        at = start + row.size + 1
    return entries

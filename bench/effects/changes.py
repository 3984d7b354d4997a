"""What a session changed in its workspace, read through the merged view after its process tree is dead.

Only programs of ours look at the view, inside a sandbox without network; links are not followed, special files are named
and not opened, everything is bounded. The result is plain bytes in the store, from which a later grading rebuilds the
layer. Git never runs on the host here, and never with anything that the workspace says about git.
"""

from __future__ import annotations

import io
import json
import os
import tarfile
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from bench.core import digest
from bench.effects import trees
from bench.effects.grading import programs
from bench.effects.grading.programs import Program
from bench.effects.sandbox import WORKSPACE, Bind, Workspace
from bench.effects.trees import Entry
from bench.errors import StepFailed

MAX_ENTRIES = 20_000
MAX_FILE = 16 << 20
MAX_BYTES = 64 << 20
MAX_WALKED = 500_000
"""Files, bytes of one file, bytes of all, files looked at."""
TEMPLATE = "/template"
_FILES = "files/"
_SAID = "changes.json"
# Beside the content: a tar header and padding for each entry, names of deletions and oddities.
CHANNEL = MAX_BYTES + MAX_ENTRIES * 4096 + (64 << 20)


@dataclass(frozen=True, slots=True)
class Changes:
    """Against the template: `entries` added or changed (sorted), `deletions` (sorted paths), and what is not content.

    `oddities` are (path, what): fifo, socket, device, special, too-large, too-many-files, unreadable, bytecode, nested-git,
    git-replaced, git-hook, git-alternates, git-attributes, git-grafts, "git-config <setting>". Paths hold undecodable bytes
    as surrogates (`os.fsdecode`).
    """

    entries: tuple[Entry, ...] = ()
    deletions: tuple[str, ...] = ()
    oddities: tuple[tuple[str, str], ...] = ()

    @property
    def any(self) -> bool:
        """Whether any content differs."""
        return bool(self.entries or self.deletions)

    @property
    def digest(self) -> str | None:
        """Digest of the content of the changes, whatever git calls them; None when there are none."""
        if not self.any:
            return None
        listed = [[os.fsencode(e.path).hex(), e.mode, digest.of_bytes(e.data)] for e in self.entries]
        return digest.of("assay/churn/1", [listed, [os.fsencode(p).hex() for p in self.deletions]])

    def listed(self) -> dict[str, str]:
        """Path → what differs there, to compare two moments of one workspace: a digest, "gone", or what an oddity is."""
        found = {e.path: f"{e.mode} {digest.of_bytes(e.data)}" for e in self.entries}
        return found | dict.fromkeys(self.deletions, "gone") | dict(self.oddities)

    def without(self, path: str) -> Changes:
        """The same but for one path."""
        entries = tuple(entry for entry in self.entries if entry.path != path)
        return replace(self, entries=entries, deletions=tuple(gone for gone in self.deletions if gone != path))

    def pack(self) -> bytes:
        """Canonical bytes: the same changes give the same blob."""
        said = json.dumps({"deletions": list(self.deletions), "oddities": [list(o) for o in self.oddities]}).encode()
        packed = [Entry(_FILES + e.path, e.mode, e.data) for e in self.entries]
        return trees.pack([Entry(_SAID, "100644", said), *packed])


def of(entries: Iterable[Entry], deletions: Iterable[str]) -> Changes:
    """Changes from their parts, in order."""
    gone = sorted(set(deletions), key=os.fsencode)
    return Changes(tuple(sorted(entries, key=lambda e: os.fsencode(e.path))), tuple(gone))


def unpack(packed: bytes) -> Changes:
    """Read what `pack`, or a program inside, wrote. Raises StepFailed for bytes of another form."""
    entries: list[Entry] = []
    said: dict[str, list[Any]] = {"deletions": [], "oddities": []}
    ended = False
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as tar:
            for info in tar:
                entry = _entry(tar, info)
                if entry.path == _SAID:
                    said, ended = json.loads(entry.data), True
                else:
                    entries.append(Entry(_safe(entry.path.removeprefix(_FILES)), entry.mode, entry.data))
        deletions = sorted({_safe(path) for path in said["deletions"]}, key=os.fsencode)
        oddities = sorted({(str(path), str(what)) for path, what in said["oddities"]})
    except (tarfile.TarError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StepFailed(f"the changes of a session are damaged: {error}") from None
    if not ended:
        raise StepFailed("the changes of a session are cut short")
    entries.sort(key=lambda e: os.fsencode(e.path))
    return Changes(tuple(entries), tuple(deletions), tuple(oddities))


def _entry(tar: tarfile.TarFile, info: tarfile.TarInfo) -> Entry:
    if info.issym():
        return Entry(info.name, "120000", os.fsencode(info.linkname))
    source = tar.extractfile(info) if info.isreg() else None
    if source is None:
        raise ValueError("an entry is neither a file nor a link")
    return Entry(info.name, "100755" if info.mode & 0o100 else "100644", source.read())


def _safe(path: Any) -> str:
    if not isinstance(path, str) or path.startswith("/") or any(part in ("", ".", "..") for part in path.split("/")):
        raise ValueError("a path leaves the workspace")
    return path


def collect(workspace: Workspace, *, cancel: threading.Event) -> Changes:
    """What differs between the template and the merged view of a finished session.

    Raises StepFailed when it cannot be read, Cancelled.
    """
    bounds = [str(n) for n in (MAX_ENTRIES, MAX_FILE, MAX_BYTES, MAX_WALKED)]
    program = Program(
        "collect",
        [TEMPLATE, WORKSPACE, *bounds],
        workspace=replace(workspace, frozen=True, remove=()),
        readonly=(Bind(workspace.template, TEMPLATE),),
        answer_bytes=CHANNEL,
    )
    return unpack(programs.run(program, cancel))


def apply(changes: Changes, workspace: Workspace, *, cancel: threading.Event) -> None:
    """Bring a freshly prepared workspace to the state that `changes` describe.

    Raises StepFailed, Cancelled.
    """
    if changes.any:
        packed = replace(changes, oddities=()).pack()
        programs.run(Program("rebuild", [WORKSPACE], workspace=replace(workspace, frozen=False), stdin=packed), cancel)

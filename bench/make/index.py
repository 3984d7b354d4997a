"""The digest index and doit's state rows in one append-only file, `artifacts/.doit.db`. A cache: safe to delete.

Like git's index it maps a path to (mtime_ns, size, inode, ctime_ns) and to what was read there then, so that an up-to-date
run opens no file. The first look at a raw file in a process is a snapshot: an edit during the run is seen by the next run,
and never taken for the input that was used (doit itself records the later state).

Lines: `["all", {records}, {files}, {rows}]` once, at the top, then `["r", path, facts]` for a record, `["f", path, stat,
digest]` for a raw file and `["t", step, row]` as steps finish.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bench.layout as layout
from bench.core import digest, records
from bench.core.records import Record
from bench.effects import files
from bench.errors import IntegrityError, StorageRefused

ABSENT = "absent"
RECORDS = f"{layout.ARTIFACTS}/"
COMPACT_AFTER = 2000
"""Appended lines after which a normal end rewrites the file."""


@dataclass(slots=True)
class Facts:
    """What is known of a record file without opening it. `sign` is the signature it was last accepted under."""

    stat: list[int]
    content: str
    seal: str
    key: str
    state: str
    sign: str
    blobs: list[str]
    measured_at: str | None


class Index:
    """One per workspace and process; `load` happens at the first use, after the workspace lock is held."""

    def __init__(self, root: Path, path: Path) -> None:
        self.root = str(root)
        self.path = path
        self.writable = False
        """Set by the command that holds the lock; without it nothing is written."""
        self.records: dict[str, Facts] = {}
        self.raw: dict[str, tuple[list[int], str]] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        self.pending: list[str] = []
        """Rows that changed before the lock was held; written at the close."""
        self.fault: StorageRefused | None = None
        """Why nothing more could be written down; what is missing here is looked up again by the next run."""
        self._snapshot: dict[str, str] = {}
        self._seen: dict[str, list[int] | None] = {}
        self._loaded = False
        self._read: list[int] | None = None
        self._appended = 0
        self._lock = threading.Lock()

    def load(self) -> None:
        """Read the file once. A torn or foreign line is passed over: what it would have said is looked up again."""
        if self._loaded:
            return
        self._loaded = True
        self._read = self.stat(str(self.path))
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return
        for line in lines:
            if not line:
                continue
            try:
                self._take(json.loads(line))
            except (ValueError, TypeError, KeyError, IndexError, AttributeError):
                continue
            self._appended += 1

    def refresh(self) -> bool:
        """Load anew if another process has written to the file since `load`; whether it has. Only while nothing is pending
        that could not be looked up again."""
        if not self._loaded or self.stat(str(self.path)) == self._read:
            return False
        self.records, self.raw, self.rows = {}, {}, {}
        self.pending.clear()
        self._loaded = False
        self._appended = 0
        self.load()
        return True

    def _take(self, item: list[Any]) -> None:
        if item[0] == "all":
            self.records = {path: Facts(*facts) for path, facts in item[1].items()}
            self.raw = {path: (stat, name) for path, (stat, name) in item[2].items()}
            self.rows = item[3]
        elif item[0] == "r":
            self.records[item[1]] = Facts(*item[2])
        elif item[0] == "f":
            self.raw[item[1]] = (item[2], item[3])
        elif item[0] == "t":
            self.rows[item[1]] = item[2]

    def stat(self, path: str) -> list[int] | None:
        """The four numbers that change whenever a file does, or None when it is absent."""
        try:
            s = os.stat(path if path[0] == "/" else f"{self.root}/{path}")
        except OSError:
            return None
        return [s.st_mtime_ns, s.st_size, s.st_ino, s.st_ctime_ns]

    def known(self, path: str) -> Facts | None:
        """Facts of a record whose file is untouched since they were noted, else None."""
        self.load()
        facts = self.records.get(path)
        if facts is None or self.stat(path) != facts.stat:
            return None
        return facts

    def note(self, path: str, record: Record, sign: str) -> Facts:
        """Remember a record that was just written or verified."""
        facts = Facts(
            self.stat(path) or [0, 0, 0, 0],
            record.content,
            record.seal,
            record.key,
            record.state,
            sign,
            [blob.blob for blob in record.outputs.values()],
            record.body.get("measured_at"),
        )
        with self._lock:
            self.records[path] = facts
            self._snapshot[path] = record.content
        self._append(["r", path, _plain(facts)])
        return facts

    def forget(self, path: str) -> None:
        """A record was taken away."""
        with self._lock:
            self.records.pop(path, None)
            self._snapshot.pop(path, None)

    def digest(self, path: str) -> str:
        """A path's state as doit compares it: a record's content, a file's digest, or `absent`. A snapshot per process."""
        seen = self._snapshot.get(path)
        if seen is not None:
            return seen
        self.load()
        if path.startswith(RECORDS):
            facts = self.known(path)
            state = facts.content if facts else self._content(path)
        else:
            state = self.file_digest(path)
        with self._lock:
            return self._snapshot.setdefault(path, state)

    def _content(self, path: str) -> str:
        try:
            return records.parse(Path(self.root, path).read_bytes(), path).content
        except (OSError, IntegrityError):
            return ABSENT

    def file_digest(self, path: str) -> str:
        """Digest of a raw file as it is now, read only when its stat changed; `absent` for what cannot be read as a file."""
        stat = self.stat(path)
        self._seen.setdefault(path, stat)
        if stat is None:
            return ABSENT
        known = self.raw.get(path)
        if known and known[0] == stat:
            return known[1]
        place = Path(self.root, path)
        try:
            if not place.is_file():
                return ABSENT  # a FIFO would block
            name = digest.of_bytes(place.read_bytes())
        except OSError:
            return ABSENT
        self.raw[path] = (stat, name)
        self._append(["f", path, stat, name])
        return name

    def unmoved(self, paths: Iterable[str]) -> bool:
        """Whether raw files are untouched since this process looked at them first."""
        return all(self.stat(path) == self._seen[path] for path in paths if path in self._seen)

    def commit(self, step: str) -> None:
        """Write down a finished step's row."""
        self._append(["t", step, self.rows[step]])

    def _append(self, item: list[Any]) -> None:
        if not self.writable or self.fault is not None:
            return
        with self._lock:
            try:
                files.append_line(self.path, json.dumps(item, separators=(",", ":")).encode())
            except StorageRefused as error:
                self.fault = error
            self._appended += 1

    def close(self) -> None:
        """At a normal end: write what is pending, and rewrite the file when it has grown long."""
        for row in dict.fromkeys(self.pending) if self.writable else []:
            self.commit(row)
        self.pending.clear()
        if self.writable and self._appended > COMPACT_AFTER and self.fault is None:
            everything = ["all", {p: _plain(f) for p, f in self.records.items()}, self.raw, self.rows]
            files.write_atomic(self.path, json.dumps(everything, separators=(",", ":")).encode() + b"\n")
            self._appended = 1


def _plain(facts: Facts) -> list[Any]:
    return [
        facts.stat, facts.content, facts.seal, facts.key, facts.state, facts.sign, facts.blobs, facts.measured_at
    ]  # fmt: skip

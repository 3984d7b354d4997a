"""The workspace of one `doit`: its store, index, journal and declared steps, and what happened to each in this run."""

from __future__ import annotations

import contextlib
import datetime
import json
import marshal
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bench.layout as layout
from bench.core import digest, keys, protocols, records
from bench.core.records import Record
from bench.effects import clock
from bench.effects.journal import Journal
from bench.effects.store import Store, open_store
from bench.errors import BenchError, IntegrityError
from bench.make.admission import Admission
from bench.make.code import Code
from bench.make.gateways import RunGateway
from bench.make.index import Facts, Index
from bench.make.step import Step

_INDEXES: dict[str, Index] = {}
"""doit builds its backend from a file name alone; this is how the backend finds the index of the workspace."""

CODE = "code:"
"""Row of the index that remembers parsed code files."""
LAID = "laid:"
"""Prefix of the rows that remember the folders of a report."""
CLOCK_SLACK = datetime.timedelta(minutes=5)


def index_at(path: str) -> Index:
    """The index whose file is `path`, made when there is none yet."""
    where = Path(path).absolute()
    if str(where) not in _INDEXES:
        _INDEXES[str(where)] = Index(where.parent.parent, where)
    return _INDEXES[str(where)]


@dataclass(slots=True)
class Run:
    """What happened in this `doit`, for the summary and the exit code."""

    cancel: threading.Event = field(default_factory=threading.Event)
    refused: BenchError | None = None
    """The first fault of this machine (exit 3): nothing more is started after it."""
    did: dict[str, str] = field(default_factory=dict)
    """Step → built, measured, reused, restored, unusable, not_run."""
    warnings: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)
    """Steps in which our own code raised what it should not."""
    gateway: RunGateway = field(default_factory=RunGateway)
    admission: Admission = field(init=False)

    def __post_init__(self) -> None:
        self.admission = Admission(self.cancel)

    @property
    def stopped(self) -> bool:
        """Whether nothing more may be started."""
        return self.cancel.is_set() or self.refused is not None


class Workspace:
    """Everything that commands share. Reads lazily; writes only through `execute` and the commands."""

    def __init__(self, root: Path) -> None:
        self.layout = layout.Layout(root)
        self.index = index_at(str(self.layout.database))
        self.store: Store = open_store(self.layout.store)
        self.journal = Journal(self.layout.journal)
        self._code: Code | None = None
        self.steps: dict[str, Step] = {}
        """By target path."""
        self.makers: dict[str, Step] = {}
        """By the path of what is laid out from a step's record."""
        self.run = Run()
        self._blobs: set[str] | None = None
        self._making: dict[str, threading.Lock] = {}
        self._signs: dict[bytes, str] = {}
        self._oldest: dict[int, str] = {}
        self._newest = ""

    def refresh(self) -> None:
        """Read the index again where another process has written to it since it was read. Called with the lock held."""
        if self.index.refresh():
            self._code = None

    @property
    def code(self) -> Code:
        """Digests of code, with what earlier processes have parsed."""
        if self._code is None:
            self.index.load()
            self._code = Code(self.index.rows.setdefault(CODE, {}))
        return self._code

    def declare(self, step: Step) -> Step:
        """Enter a step, once per target: a second declaration of the same target gives back the first."""
        made = self.steps.setdefault(step.target, step)
        self.makers |= dict.fromkeys(made.targets[1:], made)
        return made

    def undeclare(self) -> None:
        """Forget all steps: they are about to be declared again."""
        self.steps.clear()
        self.makers.clear()

    def sign(self, step: Step) -> str:
        """The step's signature: kind, protocol or code, params, roles."""
        if not step.sign:
            roles = [*step.needs, *step.files]
            # Cells of one arm are signed alike. Equal bytes are equal values of equal types; unequal ones cost a digest.
            same = marshal.dumps([step.kind, step.module, step.params, roles], 2)
            if same not in self._signs:
                protocol = protocols.known(step.kind)[0]
                code = None if protocol else self.closure(step)
                self._signs[same] = keys.signature(step.kind, protocol, step.params, roles, code)
            step.sign = self._signs[same]
        return step.sign

    def closure(self, step: Step) -> str:
        """Digest of the code that makes a step."""
        found = self.code.closure(step.module)
        if self.code.learned:
            self.code.learned = False
            self.index.pending.append(CODE)
        return found

    def key(self, step: Step, contents: Mapping[str, str], digests: Mapping[str, str]) -> str:
        """The step's key, given the contents of its inputs and the digests of its raw files."""
        return keys.key(self.sign(step), contents, digests)

    def has_blob(self, blob: str) -> bool:
        """Presence of bytes, from one listing of the store per run."""
        if self._blobs is None:
            self._blobs = set(self.store.blobs())
        return blob in self._blobs or self.store.has(blob)

    def set_aside(self, blob: str) -> None:
        """Take damaged bytes out of use: what named them counts as incomplete from now on, and is made again."""
        self.store.set_aside(blob)
        if self._blobs is not None:
            self._blobs.discard(blob)

    @contextlib.contextmanager
    def making(self, key: str) -> Iterator[bool]:
        """One worker at a time makes what has this key. True when another step of this run has made it before."""
        mine = threading.Lock()
        lock = self._making.setdefault(key, mine)
        with lock:
            yield lock is not mine

    def fresh_enough(self, step: Step, state: str, measured_at: str | None) -> bool:
        """Whether evidence is within its suite's age limit; a stamp in the future is corrupt, and so is none on evidence.

        What yielded no evidence (`state`) has no age.
        """
        if step.max_age_days is None:
            return True
        if measured_at is None:
            return state != records.FINAL
        if step.max_age_days not in self._oldest:
            self._oldest[step.max_age_days] = clock.stamp(clock.now_utc() - datetime.timedelta(days=step.max_age_days))
        if measured_at > self._newest:  # asked again, for a run may last: what it measures is not of the future
            self._newest = clock.stamp(clock.now_utc() + CLOCK_SLACK)
        return self._oldest[step.max_age_days] <= measured_at <= self._newest

    def settled(self, step: Step, state: str, key: str) -> bool:
        """Whether a record of this state stands, or its step is to run again (design section 3, `state`)."""
        if state == records.FINAL:
            return True
        return state == records.UNUSABLE and step.paid and self.journal.attempts(key) > step.retries

    def stands(self, step: Step, known: Facts | None = None) -> bool:
        """Whether the target needs no making, its inputs left aside: sealed, signed alike, settled, whole, not too old.

        `known`: the facts of its record, where they were just looked up.
        """
        facts = known or self.index.known(step.target) or self._recheck(step)
        return (
            facts is not None
            and facts.sign == self.sign(step)
            and self.settled(step, facts.state, facts.key)
            and self.fresh_enough(step, facts.state, facts.measured_at)
            and all(self.has_blob(blob) for blob in facts.blobs)
        )

    def _recheck(self, step: Step) -> Facts | None:
        # The file was touched since it was noted: believe it only if it is still what was sealed.
        known = self.index.records.get(step.target)
        record = self.read(step.target)
        if record is None or known is None or record.seal != known.seal:
            return None
        return self.index.note(step.target, record, known.sign)

    def read(self, path: str) -> Record | None:
        """The record at a path if it is what we sealed; a forged or damaged one is named once and counts as absent."""
        try:
            data = Path(self.layout.root, path).read_bytes()
        except OSError:
            return None
        try:
            record = records.parse(data, path)
            if layout.step_of(path) != (record.kind, record.name):
                raise IntegrityError(f"this is the record of {record.kind}:{record.name}", where=path)
            if self.index.known(path) is None:
                self._authenticate(record, path)
        except IntegrityError as error:
            text = f"tampered or damaged: {error}"
            if text not in self.run.warnings:
                self.run.warnings.append(text)
            return None
        return record

    def said(self, path: str) -> Mapping[str, Any] | None:
        """The body of a record, for telling: sealed once by its stat, so that its digests need no second computation."""
        if self.index.known(path) is not None:
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                body: Mapping[str, Any] = json.loads(Path(self.layout.root, path).read_bytes())["body"]
                return body
        record = self.read(path)
        return None if record is None else record.body

    def _authenticate(self, record: Record, path: str) -> None:
        if record.state == records.NOT_RUN:
            return
        entry = self.store.entry(record.key)
        if entry is not None and entry.renamed(record.name).seal != record.seal:
            raise IntegrityError("the record is not the one that the store holds for its key", where=path)
        if not self.vouched(record, alone=entry is None):
            raise IntegrityError("no store entry or journal line vouches for this record", where=path)

    def vouched(self, record: Record, *, alone: bool = False) -> bool:
        """Whether the journal knows this seal, or knows nothing of the key (a store from elsewhere) and is not `alone`.

        Steps that share a key share an entry, under the name of whichever was made first, elsewhere perhaps another.
        """
        seals = self.journal.seals(record.key)
        if record.seal in seals or not seals:
            return record.seal in seals or not alone
        return any(name and record.renamed(name).seal == seal for seal, name in seals.items())

    def kept(self, key: str) -> Record | None:
        """The whole and unforged record that the store holds for a key."""
        record = self.store.find(key)
        if record is not None and not self.vouched(record):
            text = f"forged or damaged: the store entry {key} is not what was made under it"
            if text not in self.run.warnings:
                self.run.warnings.append(text)
            return None
        return record

    def laid_out(self, path: str) -> bool:
        """Whether a file of a report or promotion stands as it was laid out, and beside a report nothing came or went."""
        step, found = self.makers[path], self.index.file_digest(path)
        facts = self.index.known(step.target)
        if facts is None or (found not in facts.blobs and not self.journal.laid(found)):
            return False
        if step.kind != "report":
            return True
        folders = self.index.rows.get(f"{LAID}{step.name}")
        return folders is not None and all(
            self.index.stat(folder) == stat or self._listed(folder) == names for folder, (stat, names) in folders.items()
        )

    def note_laid_out(self, suite: str, folders: Iterable[Path]) -> None:
        """Remember the folders of a report as they are now: a deleted page shows in its folder's time, and in the report's
        own folder a decision that has come to lie there under another name."""
        paths = [folder.relative_to(self.layout.root).as_posix() for folder in folders]
        row = f"{LAID}{suite}"
        self.index.rows[row] = {path: [self.index.stat(path), self._listed(path)] for path in paths}
        self.index.commit(row)

    def _listed(self, folder: str) -> str | None:
        place = Path(self.layout.root, folder)
        return digest.of("assay/names/1", sorted(ascii(item.name) for item in place.iterdir())) if place.is_dir() else None

    def laid_folders(self, step: Step) -> list[str]:
        """The folders of a report that was laid out; none of any other step."""
        return list(self.index.rows.get(f"{LAID}{step.name}", ())) if step.kind == "report" else []

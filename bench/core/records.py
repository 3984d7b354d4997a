"""The record: the canonical JSON document that every step makes, and the two digests that it carries.

`content` covers what the record says (kind, schema, state, outputs, body) and is all that a consumer's key may hold.
`seal` covers the whole record but itself. `notes` are sealed and nothing else: facts of the making that reach no result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bench.core import digest
from bench.errors import IntegrityError

SCHEMA = 1
FINAL = "final"
UNUSABLE = "unusable"
NOT_RUN = "not_run"
STATES = (FINAL, UNUSABLE, NOT_RUN)
STANDS_FOR = "stands_for"
"""In the body of a canary that cost nothing: the session, measured in the same run, that it stands for."""
ATTEMPTS = "attempts"
"""In the notes of what was paid for: how often it had been bought by then. In the body too where revoked evidence came back
after more attempts than it knew of, so that whatever rests on it is decided again."""
TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
"""Fields of a usage, disjoint; the first is the uncached remainder."""
FIELDS = [
    "schema",
    "kind",
    "name",
    "key",
    "inputs",
    "params",
    "state",
    "reason",
    "outputs",
    "body",
    "code",
    "notes",
    "content",
    "seal",
]


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes in the store: their digest (`b3:…`) and length in bytes."""

    blob: str
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """The blob as it stands in a record."""
        return {"blob": self.blob, "bytes": self.bytes}


@dataclass(frozen=True, slots=True)
class Record:
    """One piece of evidence. Make it with `sealed`, read it with `parse`."""

    kind: str
    name: str
    key: str
    inputs: Mapping[str, str]
    params: Mapping[str, Any]
    state: str
    reason: str | None
    outputs: Mapping[str, Blob]
    body: Mapping[str, Any]
    code: str | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    content: str = ""
    seal: str = ""

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values, `content` and `seal` included."""
        return self._open() | {"content": self.content, "seal": self.seal}

    def to_bytes(self) -> bytes:
        """The record as it stands on disk."""
        return digest.canonical(self.to_json())

    def renamed(self, name: str) -> Record:
        """The same evidence under another step's name (suites share evidence by key)."""
        return self if name == self.name else sealed(replace(self, name=name))

    def _open(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "name": self.name,
            "key": self.key,
            "inputs": dict(self.inputs),
            "params": dict(self.params),
            "state": self.state,
            "reason": self.reason,
            "outputs": {name: blob.to_json() for name, blob in self.outputs.items()},
            "body": dict(self.body),
            "code": self.code,
            "notes": dict(self.notes),
        }


def content_of(record: Record) -> str:
    """Digest of what the record says."""
    outputs = {name: blob.to_json() for name, blob in record.outputs.items()}
    said = [record.kind, SCHEMA, record.state, outputs, dict(record.body)]
    return digest.of(f"assay/content/{SCHEMA}", said)


def sealed(record: Record) -> Record:
    """The record with its `content` and `seal` computed."""
    if record.state not in STATES:
        raise ValueError(f"unknown state {record.state!r}")
    content = content_of(record)
    seal = digest.of(f"assay/seal/{SCHEMA}", replace(record, content=content)._open() | {"content": content})
    return replace(record, content=content, seal=seal)


def attempts(record: Record) -> int:
    """How often the evidence was bought until it was this, at least 1."""
    said = [said.get(ATTEMPTS) for said in (record.notes, record.body)]
    return max([1, *(tries for tries in said if isinstance(tries, int))])


def parse(data: bytes, where: str) -> Record:
    """Read a record and check its two digests; `where` names the file in errors.

    Raises IntegrityError when the bytes are no record of this schema, or not the ones that were sealed.
    """
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        raise IntegrityError("not a record (torn or foreign JSON)", where=where) from None
    if not isinstance(raw, dict) or set(raw) != set(FIELDS):
        raise IntegrityError("not a record (fields differ)", where=where)
    if raw["schema"] != SCHEMA:
        raise IntegrityError(f"record schema {raw['schema']!r}, this version reads {SCHEMA}", where=where)
    try:
        outputs = {name: Blob(str(o["blob"]), int(o["bytes"])) for name, o in raw["outputs"].items()}
        record = Record(
            kind=raw["kind"],
            name=raw["name"],
            key=raw["key"],
            inputs=raw["inputs"],
            params=raw["params"],
            state=raw["state"],
            reason=raw["reason"],
            outputs=outputs,
            body=raw["body"],
            code=raw["code"],
            notes=raw["notes"],
        )
        again = sealed(record)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise IntegrityError("not a record (a field has the wrong form)", where=where) from None
    if again.content != raw["content"] or again.seal != raw["seal"] or again.to_bytes() != data:
        raise IntegrityError("the record's seal does not fit its bytes (edited or damaged)", where=where)
    return again

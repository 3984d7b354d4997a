"""Canonical JSON and tagged BLAKE3 digests: the one place where identity is computed.

Every digest of a structure is BLAKE3 over the canonical JSON of `[tag, payload]`; the tag keeps two kinds of structure
with equal payloads apart and carries the version of their meaning. Digests are full length, written `b3:<64 hex>`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from blake3 import blake3

PREFIX = "b3:"
_FORM = re.compile(f"{PREFIX}[0-9a-f]{{64}}")


def canonical(value: Any) -> bytes:
    """Canonical JSON: keys sorted by code point, no spaces, UTF-8, no NaN, final newline.

    Raises ValueError for NaN and infinities, lone surrogates and keys that are not strings; TypeError for other types.
    """
    _refuse_odd_keys(value)
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode() + b"\n"


def _refuse_odd_keys(value: Any) -> None:
    # json.dumps would turn 1 and "1" into the same key, and True into "true".
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError(f"a key of canonical JSON must be a string, not {key!r}")
            _refuse_odd_keys(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_odd_keys(item)


def encodable(value: Any) -> Any:
    """The same without lone surrogates, which a model's words may hold and UTF-8 cannot; keys too, and tuples as lists."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {encodable(key): encodable(item) for key, item in value.items()}
    return [encodable(item) for item in value] if isinstance(value, list | tuple) else value


def of_bytes(data: bytes | memoryview) -> str:
    """Digest of a blob: BLAKE3 of its bytes."""
    return PREFIX + blake3(data).hexdigest()


def of(tag: str, payload: Any) -> str:
    """Digest of a structure under a tag such as `assay/session/1`."""
    return of_bytes(canonical([tag, payload]))


def is_digest(text: object) -> bool:
    """Whether `text` has the form of a digest."""
    return isinstance(text, str) and _FORM.fullmatch(text) is not None


def shard(digest: str) -> tuple[str, str]:
    """`(aa, rest)` of a digest: the directory and file name under which a store keeps it."""
    if not is_digest(digest):
        raise ValueError(f"not a digest: {digest!r}")
    bare = digest[len(PREFIX) :]
    return bare[:2], bare[2:]

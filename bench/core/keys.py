"""A step's key: the digest of everything that can reach its result, and of nothing else.

A key holds digests of *contents*, never names of suites, tasks or arms, so that suites share evidence. Cheap steps add the
digest of their code (`code`); costly ones are keyed on an explicit protocol number instead, so a refactor buys nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.core import digest


def signature(kind: str, protocol: int, params: Mapping[str, Any], roles: list[str], code: str | None) -> str:
    """The part of a key that is known before any input is built; two steps with equal signatures differ by inputs alone."""
    return digest.of(f"assay/{kind}/{protocol}", [params, sorted(roles), code])


def key(signed: str, inputs: Mapping[str, str], files: Mapping[str, str]) -> str:
    """Key from a signature, the contents of the input records by role and the digests of raw input files by role."""
    return digest.of("assay/key/1", [signed, dict(inputs), dict(files)])

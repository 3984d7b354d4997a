"""Rows of an arm's canaries, for what judges the measurement: one that stands for a session of the same run is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.core import aggregate
from bench.core.records import STANDS_FOR, Record

KIND = "canary"


def rows(inputs: Mapping[str, Record], arms: Mapping[str, Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Arm → compact rows, from inputs by role (`canary/<arm>/…`) and the arms of an aggregate."""
    found: dict[str, list[dict[str, Any]]] = {}
    for role, record in sorted(inputs.items()):
        kind, _, rest = role.partition("/")
        arm = rest.partition("/")[0]
        if kind == KIND and arm in arms and STANDS_FOR not in record.body:
            identity = {"task": "", "class": "", "arm": arm, "role": arms[arm]["role"], "run": 0}
            found.setdefault(arm, []).append(aggregate.compact(identity, record))
    return found

"""Patches and churn: git's view of changes, computed in a sandbox beside the template's objects, without a working tree."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from pathlib import Path

from bench.effects import changes as changes_module
from bench.effects.changes import Changes
from bench.effects.grading import programs
from bench.effects.grading.programs import Program
from bench.effects.sandbox import Bind
from bench.errors import StepFailed

TEMPLATE = changes_module.TEMPLATE
MAX_PATCH = 8 << 20
"""Bytes of a patch that are kept; the reference kept 300,000."""


@dataclass(frozen=True, slots=True)
class Patch:
    """`data` is a git patch (`--binary --full-index`), byte-exact unless `truncated`; the counts are of files and lines."""

    data: bytes
    files: int
    insertions: int
    deletions: int
    truncated: bool = False


EMPTY = Patch(b"", 0, 0, 0)


def of_changes(changes: Changes, template: Path, commit: str, *, cancel: threading.Event) -> Patch:
    """The patch from the template's `commit` to the state after `changes`.

    `template` is the expanded tree with its `.git`. Raises StepFailed, Cancelled.
    """
    if not changes.any:
        return EMPTY
    program = Program(
        "gitwork",
        ["diff", TEMPLATE, commit, str(MAX_PATCH)],
        stdin=replace(changes, oddities=()).pack(),
        readonly=(Bind(template, TEMPLATE),),
        answer_bytes=MAX_PATCH + 4096,
    )
    head, _, data = programs.run(program, cancel).partition(b"\n")
    said = json.loads(head)
    return Patch(data, said["files"], said["insertions"], said["deletions"], truncated=said["bytes"] > len(data))


def to_changes(patch: bytes, template: Path, commit: str, *, cancel: threading.Event) -> Changes:
    """What a patch makes of the template's `commit`. Raises StepFailed when it does not apply, Cancelled."""
    if not patch.strip():
        return Changes()
    program = Program(
        "gitwork",
        ["apply", TEMPLATE, commit],
        stdin=patch,
        readonly=(Bind(template, TEMPLATE),),
        answer_bytes=changes_module.CHANNEL,
    )
    try:
        return changes_module.unpack(programs.run(program, cancel))
    except StepFailed as error:
        raise StepFailed(f"the patch does not apply to the template: {error.what}") from None

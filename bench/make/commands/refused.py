"""Commands of doit that would bless, skip or drop evidence unseen. They say what to use instead."""

from __future__ import annotations

from typing import Any

from bench.errors import UsageError
from bench.make.commands.base import Guarded


class _Refused(Guarded):
    doc_usage = ""
    doc_description = None
    instead = ""

    def execute(self, params: Any, args: list[str]) -> int:
        """Refuse with the remedy."""
        raise UsageError(f"`doit {self.name}` has no place in an evidence build", remedy=self.instead)


class Forget(_Refused):
    """doit's states are a cache here: dropping them revokes nothing."""

    name = "forget"
    doc_purpose = "(not here: use clean)"
    instead = "use `doit clean STEP` to revoke evidence"


class Ignore(_Refused):
    """A step left out must be seen to be left out."""

    name = "ignore"
    doc_purpose = "(not here: select with arms= and tasks=)"
    instead = "select with arms=, tasks= or `expensive`"


class ResetDep(_Refused):
    """It would take a damaged target for a good one."""

    name = "reset-dep"
    doc_purpose = "(not here: run doit)"
    instead = "run doit: a record that fits its inputs is reused by itself"


class DumpDb(_Refused):
    """It reads doit's own databases only; ours is text, and a cache."""

    name = "dumpdb"
    doc_purpose = "(not here: use why)"
    instead = "ask `doit why STEP`, or `doit info STEP`"


class Strace(_Refused):
    """It would run a step outside of our runner, lock and records."""

    name = "strace"
    doc_purpose = "(not here: keys say what a step depends on)"
    instead = "ask `doit why STEP`, or read the step's log"

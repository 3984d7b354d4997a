"""Every error that this project raises on its own account.

    BenchError                 1   something of ours failed
    ├── UsageError             2   the command line asks for what is not there
    ├── CorpusError            2   a suite, oracle, skill or lock file is wrong
    ├── EnvironmentRefused     3   this machine cannot do it
    │   ├── SandboxRefused     3   no user namespaces, no bubblewrap, no process limit
    │   ├── LockHeld           3   another doit writes to these artifacts
    │   ├── MissingPart        3   a program or package is absent
    │   └── StorageRefused     3   disk full, read-only, no permission
    ├── IntegrityError         1   bytes are not those that their digest names
    ├── SourceError            1   a source cannot be turned into a template
    ├── StepFailed             1   a step cannot yield evidence, and says why
    ├── GateFailed             1   a state that was asked for is not good enough
    ├── ApplyFailed            1   a promoted candidate was not put into the working tree
    └── Cancelled            130   interrupted by the user or by a signal

The number is the exit code (design section 7). What an *agent* does wrong is never raised: it is a value in a record.
"""

from __future__ import annotations


class BenchError(Exception):
    """What happened, where (file:line:column, key, step), and the remedy; `str()` is one line."""

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        super().__init__(what, where, remedy)
        self.what = what
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        text = f"{text}; {self.remedy}" if self.remedy else text
        return " ".join(text.split())


class UsageError(BenchError):
    """The command line asks for what is not there."""

    exit_code = 2


class CorpusError(BenchError):
    """A suite, oracle, skill or lock file is wrong."""

    exit_code = 2


class EnvironmentRefused(BenchError):
    """This machine cannot do it."""

    exit_code = 3


class SandboxRefused(EnvironmentRefused):
    """No user namespaces, no bubblewrap, no process limit."""


class LockHeld(EnvironmentRefused):
    """Another doit writes to these artifacts."""


class MissingPart(EnvironmentRefused):
    """A program or package is absent."""


class StorageRefused(EnvironmentRefused):
    """Disk full, read-only, no permission."""


class IntegrityError(BenchError):
    """Bytes are not those that their digest names."""


class SourceError(BenchError):
    """A source cannot be turned into a template."""


class StepFailed(BenchError):
    """A step cannot yield evidence, and says why."""


class GateFailed(BenchError):
    """A state that was asked for is not good enough."""


class ApplyFailed(BenchError):
    """A promoted candidate was not put into the working tree, which is as it was or as the recovery file says."""


class Cancelled(BenchError):
    """Interrupted by the user or by a signal."""

    exit_code = 130

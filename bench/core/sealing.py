"""Limits and digests of an oracle, the hidden files and command that grade. Reads nothing: it is given the bytes.

Files of `oracles/`: at most 8, 512 KiB each, 2 MiB together. Files of a pinned sdist, a real project's own later tests with
their data: at most 64, 2 MiB each, 8 MiB together. A target has at most 240 bytes, a command 8 KiB.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import digest, relpath
from bench.errors import CorpusError

KIB = 1024
MAX_FILES, MAX_FILE, MAX_TOTAL = 8, 512 * KIB, 2048 * KIB
MAX_SDIST_FILES, MAX_SDIST_FILE, MAX_SDIST_TOTAL = 64, 2048 * KIB, 8192 * KIB
MAX_TARGET = 240
MAX_COMMAND = 8 * KIB
REPORTS = ("exit", "pytest")


def check_files(local: Mapping[str, bytes], borne: Mapping[str, bytes]) -> None:
    """Refuse files, by target, beyond the limits: `local` ones lie under oracles/, `borne` ones come from an sdist."""
    if not local and not borne:
        raise CorpusError("has no files", where="oracle")
    relpath.check_sizes(local, "oracle", total=MAX_TOTAL, count=MAX_FILES, each=MAX_FILE)
    relpath.check_sizes(borne, "oracle", total=MAX_SDIST_TOTAL, count=MAX_SDIST_FILES, each=MAX_SDIST_FILE)
    relpath.check_paths([*local, *borne], "oracle", MAX_TARGET)


def check_command(oracle: Mapping[str, Any], targets: Sequence[str]) -> dict[str, Any]:
    """`{command, pytest, report, paths, pythonpath, args}` with every default, checked. `targets` are the sealed files.

    Exactly one of `command` and `pytest` is set; the pytest form runs only what is sealed. Review labels are the one oracle
    of which nothing is run: a command beside them is kept and not needed.
    """
    command, pytest, labels = oracle.get("command"), bool(oracle.get("pytest")), bool(oracle.get("labels"))
    said: dict[str, Any] = {
        "command": command,
        "pytest": pytest,
        "report": oracle.get("report") or "exit",
        "paths": list(oracle.get("paths") or ()),
        "pythonpath": list(oracle.get("pythonpath") or ()),
        "args": list(oracle.get("args") or ()),
    }
    if (command is None) == (not pytest) and not (labels and not pytest):
        raise CorpusError("exactly one of command and pytest must be given", where="oracle")
    if said["report"] not in REPORTS:
        raise CorpusError(f"report is {said['report']!r}, not one of {', '.join(REPORTS)}", where="oracle")
    if command is not None:
        _check_text(command)
    if pytest:
        _check_paths(said["paths"], targets)
    return said


def _check_text(command: Any) -> None:
    if not isinstance(command, str) or not command.strip() or "\0" in command:
        raise CorpusError("the command is blank or holds a NUL", where="oracle")
    if len(command.encode()) > MAX_COMMAND:
        raise CorpusError(f"the command is longer than {MAX_COMMAND} bytes", where="oracle")


def _check_paths(paths: list[Any], targets: Sequence[str]) -> None:
    if not paths:
        raise CorpusError("pytest.paths is empty", where="oracle")
    for path in paths:
        file = str(path).split("::")[0].rstrip("/")
        if not any(target == file or target.startswith(f"{file}/") for target in targets):
            raise CorpusError(f"pytest.paths names {path}, which is none of the oracle's files", where="oracle")


def command_digest(command: Mapping[str, Any]) -> str:
    """Digest of what is run, as `check_command` gives it."""
    return digest.of("assay/oracle-command/1", dict(command))


def manifest_digest(files: Sequence[Mapping[str, Any]]) -> str:
    """Digest of the sealed files: [target, digest, bytes], sorted by target."""
    return digest.of("assay/oracle-manifest/1", sorted([f["target"], f["digest"], f["bytes"]] for f in files))

"""Finds the installed Claude Code: `$BENCH_CLAUDE`, else `claude` on the PATH, followed to the program that really runs.

The npm package ships a small stub in its `bin`, which its installation replaces by the program of this platform; where that
did not happen, the platform's package beside it holds the program. A digest is computed once per file: it is remembered, by
the file's stat, in the user's cache directory.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import Callable
from pathlib import Path

from blake3 import blake3

from bench.core import digest
from bench.effects import env, files, programs
from bench.effects.engines.claude.command import PROGRAM
from bench.effects.programs import Watched
from bench.effects.sandbox import Bind, Finished, Limits, Spec
from bench.errors import MissingPart, StepFailed

VARIABLE = "BENCH_CLAUDE"
NAME = "claude"
PACKAGE = "claude-code"
REMEDY = "npm i -g @anthropic-ai/claude-code, or set BENCH_CLAUDE to its program"
_ELF = b"\x7fELF"
_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
_CHUNK = 8 << 20


def program() -> Path:
    """The client's program, an ELF file. Raises MissingPart naming the remedy."""
    given = programs.find(NAME, VARIABLE)
    if not given:
        raise MissingPart("Claude Code is not installed", remedy=REMEDY)
    place = Path(given)
    if not place.is_absolute() or not place.is_file():
        raise MissingPart("there is no Claude Code", where=given, remedy=REMEDY)
    found = place.resolve()
    if _runs(found):
        return found
    for candidate in _platform_programs(found):
        if _runs(candidate):
            return candidate.resolve()
    raise MissingPart("its Claude Code has no program for this machine", where=given, remedy=REMEDY)


def _platform_programs(found: Path) -> list[Path]:
    """Where the platform's package may lie, seen from any file of the main one."""
    machine = _MACHINES.get(platform.machine(), platform.machine())
    names = [f"{PACKAGE}-linux-{machine}", f"{PACKAGE}-linux-{machine}-musl"]
    homes: list[Path] = []
    for parent in found.parents:
        if parent.name == PACKAGE:
            homes += [parent.parent, parent / "node_modules" / "@anthropic-ai"]
    return [home / name / "claude" for home in homes for name in names]


def _runs(place: Path) -> bool:
    try:
        with place.open("rb") as stream:
            return stream.read(4) == _ELF and os.access(place, os.X_OK)
    except OSError:
        return False


def identity() -> dict[str, str]:
    """What a runtime is keyed on: {binary: digest}. An absent client is refused when a session needs it, not before."""
    try:
        return {"binary": digest_of(program())}
    except MissingPart as error:
        return {"missing": error.what}


def watched() -> Watched:
    """What decides which program that is, and whether it is still the same."""
    paths: list[Path] = []
    if given := programs.find(NAME, VARIABLE):
        paths += _platform_programs(Path(given).resolve())
    with contextlib.suppress(MissingPart):
        paths.append(program())
    return programs.watched(NAME, VARIABLE) | Watched(frozenset(map(str, paths)))


def version(run: Callable[[Spec], Finished]) -> str:
    """Such as `2.1.197`, as the program says in a sandbox. Raises MissingPart, StepFailed for one that does not."""
    shown = (Bind(program(), PROGRAM),)
    done = run(Spec((PROGRAM, "--version"), readonly=shown, limits=Limits(seconds=60)))
    words = done.stdout.decode("utf-8", "replace").split()
    if not done.ok or not words:
        tail = " ".join(done.stderr.decode("utf-8", "replace").split())[-200:]
        raise StepFailed(f"Claude Code does not run here: {tail or done.limit or done.exit}", remedy=REMEDY)
    return words[0][:40]


def digest_of(place: Path) -> str:
    """BLAKE3 digest of a program's bytes; remembered while neither size, times nor inode change."""
    status = place.stat()
    facts = [str(place), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev]
    note = _note(digest.of("assay/program/1", facts))
    if note is not None:
        try:
            said = json.loads(note.read_bytes())
            if digest.is_digest(said):
                return str(said)
        except (OSError, ValueError):
            pass  # computed again below
    hasher = blake3()
    with place.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            hasher.update(chunk)
    found = digest.PREFIX + hasher.hexdigest()
    if note is not None:
        files.write_atomic(note, json.dumps(found).encode())
    return found


def _note(name: str) -> Path | None:
    cache = env.cache()
    return cache / "programs" / name.removeprefix(digest.PREFIX)[:32] if cache else None

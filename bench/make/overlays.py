"""Overlays of a workspace: which files they hold, whether they can be laid over the arms, `overlay=DIR` on the command line.

Everything that is wrong with an overlay is told before anything runs, and so before anything is paid for. The skill step
asks the same of the same bytes when it seals them; nothing is kept here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

import bench.layout as layout
from bench.core import arm_rules, overlay_arms, skills
from bench.core.names import shown
from bench.core.suite import CALIBRATION, Arm, Suite
from bench.effects import files, listing
from bench.errors import BenchError, CorpusError, UsageError

VARIABLE = "overlay"


def paths(root: Path, overlay: str) -> list[str]:
    """Files of the directory `overlay` (as `listing.place` takes it), sorted. Raises CorpusError."""
    return listing.below(root / listing.place(overlay, root), links=False, where=overlay).files


def of_arm(root: Path, arm: Arm) -> dict[str, str]:
    """{path in an arm's overlay: path as a step names it}, of the files that lie in its own skills: an overlay may touch
    those of several arms."""
    if arm.overlay is None:
        return {}
    skills, home = overlay_arms.own(arm), listing.place(arm.overlay, root)
    return {path: (home / path).as_posix() for path in paths(root, arm.overlay) if overlay_arms.skill_of(path) in skills}


def names(arm: Arm) -> list[str]:
    """Names of an arm's skills, in their order."""
    return [PurePosixPath(folder).name for folder in arm.skills]


def base(root: Path, arm: Arm) -> dict[str, str]:
    """{`<skill>/…`: path as a step names it} of an arm's own skills. Raises CorpusError."""
    found: dict[str, str] = {}
    for name, folder in zip(names(arm), arm.skills, strict=True):
        where = f"{layout.CORPUS}/{folder}"
        seen = listing.below(root / where, links=False, where=where)
        found |= {f"{name}/{path}": f"{where}/{path}" for path in seen.files}
    return found


def check(root: Path, arms: Collection[Arm], whole: Suite) -> None:
    """Raise CorpusError, with the file, for an overlay of `arms` that breaks a rule, that changes nothing of one of them, or
    whose arms, of all of a suite, are not exactly those it touches."""
    for overlay in sorted({arm.overlay for arm in arms if arm.overlay}):
        home, held = listing.place(overlay, root).as_posix(), paths(root, overlay)
        overlay_arms.check(whole.arms, overlay, held)
        touched = sorted(overlay_arms.touched(held))
        with _located(home, {}):
            skills.check_overlay(dict.fromkeys(held, b""), touched)  # as far as names go: a file too many is not read
            skills.check_overlay(_read(root, {path: f"{home}/{path}" for path in held}, home), touched)
        for arm in arms:
            if arm.overlay == overlay:
                _check_arm(root, arm, home)


def _check_arm(root: Path, arm: Arm, home: str) -> None:
    own, over = base(root, arm), of_arm(root, arm)
    with _located(home, own | over | {path.removeprefix(skills.INSTALLED): place for path, place in over.items()}):
        merged = skills.merged(names(arm), _read(root, own, shown(arm.name)), _read(root, over, home))
        for name in names(arm):
            skills.described(name, merged)


def _read(root: Path, listed: Mapping[str, str], where: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    left = skills.MAX_BYTES
    for path, place in listed.items():
        found[path] = files.read_regular(root / place, skills.MAX_BYTES)
        left -= len(found[path])
        if left < 0:
            raise CorpusError(f"its files hold more than {skills.MAX_BYTES} bytes together", where=where)
    return found


@contextlib.contextmanager
def _located(home: str, places: Mapping[str, str]) -> Iterator[None]:
    """Faults of an overlay that lies in `home`, with the path of the file; `places` are those of files by their names."""
    try:
        yield
    except CorpusError as error:
        kind, _, inner = error.where.partition("/")
        where = home if error.where == skills.OVERLAY else f"{home}/{inner}" if kind == skills.OVERLAY else error.where
        raise CorpusError(error.what, where=places.get(where, where), remedy=error.remedy) from None


def lay(suite: Suite, folder: str, root: Path, arms: str | None) -> Suite:
    """The suite with a hand-made overlay on its candidates; `arms`: those named on the command line, or None.

    A relative directory is one of the workspace. Raises UsageError.
    """
    where = f"{VARIABLE}="
    if fault := arm_rules.path_fault(folder):
        raise UsageError(f"{shown(folder)} {fault}", where=where, remedy="name a directory of Markdown files")
    place = arm_rules.from_workspace(folder)
    try:
        chosen = overlay_arms.laid(suite.arms, place, paths(root, place))
    except BenchError as error:
        raise UsageError(error.what, where=f"{where}{folder}", remedy=error.remedy) from None
    if arms is not None:
        needed = [arm.name for arm in chosen if arm.role != CALIBRATION]
        named = [part.strip() for part in arms.split(",") if part.strip()]
        if sorted(named) != sorted(needed):
            what = f"the overlay has to be measured on exactly {', '.join(needed)}"
            raise UsageError(what, where="arms=", remedy="leave arms= out")
    return replace(suite, arms=chosen)

"""Overlays of a workspace: which files they hold, whether the arms fit them, and `overlay=DIR` on the command line.

Everything that is wrong with an overlay is told before anything runs, and so before anything is paid for.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from bench.core import arm_rules, overlay_arms
from bench.core.names import shown
from bench.core.suite import Arm, Suite
from bench.effects import listing
from bench.errors import BenchError, UsageError

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


def check(root: Path, arms: Collection[Arm], whole: Suite) -> None:
    """Raise CorpusError when those that carry an overlay of `arms`, of all of a suite, are not exactly those it touches."""
    for overlay in sorted({arm.overlay for arm in arms if arm.overlay}):
        overlay_arms.check(whole.arms, overlay, paths(root, overlay))


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
        needed = [arm.name for arm in chosen if arm.role != "calibration"]
        named = [part.strip() for part in arms.split(",") if part.strip()]
        if sorted(named) != sorted(needed):
            what = f"the overlay has to be measured on exactly {', '.join(needed)}"
            raise UsageError(what, where="arms=", remedy="leave arms= out")
    return replace(suite, arms=chosen)

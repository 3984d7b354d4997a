"""`doit init DIR`: a workspace of one's own, which runs as it is: the pipeline, the demo suite, its oracles."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import bench.layout as layout
from bench.effects import console, files
from bench.errors import MissingPart, UsageError
from bench.make.commands.base import Guarded

PARTS = ("dodo.py", layout.CORPUS, layout.ORACLES)
SUITE = "demo"
OTHER = "name a new directory"


class Init(Guarded):
    """Copies; never overwrites."""

    name = "init"
    doc_purpose = "make a workspace that runs as it is"
    doc_usage = "DIR"
    doc_description = None

    def execute(self, params: Any, args: list[str]) -> int:
        """Make it."""
        if len(args) != 1:
            raise UsageError("init takes one directory", remedy="doit init DIR")
        make(Path(args[0]))
        return 0


def make(target: Path) -> None:
    """Make a workspace in `target`, which must not exist or be empty. Raises UsageError, MissingPart."""
    source = _scaffold()
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise UsageError("is not empty", where=str(target), remedy=OTHER)
        _copy(source, target)
    except OSError as error:
        why = (error.strerror or "cannot be written").lower()
        raise files.storage_fault(error, target) or UsageError(why, where=str(target), remedy=OTHER) from None
    console.say(f"made {target}: cd there and run `doit`; corpus/demo.yaml shows how a suite is written")


def _copy(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part, ignore=_only_demo)
        else:
            shutil.copy(source / part, target / part)
    layout.Layout(target).artifacts.mkdir()
    files.write_atomic(target / ".gitignore", f"{layout.ARTIFACTS}/\n__pycache__/\n".encode(), mode=0o644)


def _only_demo(folder: str, names: list[str]) -> set[str]:
    suites = {name.removesuffix(".yaml") for name in names if name.endswith(".yaml") and ".script." not in name} - {
        SUITE,
        "arms",
    }
    cassettes = names if Path(folder).name == "cassettes" else []
    other = {name for name in names if name.split(".")[0] in suites} | {c for c in cassettes if c.split(".")[0] != SUITE}
    return other | {name for name in names if name == "__pycache__"}


def _scaffold() -> Path:
    home = Path(__file__).resolve().parents[2]
    for place in (home / "scaffold", home.parent):
        if all((place / part).exists() for part in PARTS):
            return place
    raise MissingPart("the installed package holds no workspace to copy", remedy="install it again")

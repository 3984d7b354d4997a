"""Short ways to run something in a sandbox."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bench.effects.sandbox import Finished, Spec, Workspace, runner


def sh(script: str, workspace: Workspace | None = None, **fields: Any) -> Finished:
    return runner.run(replace(Spec(("sh", "-c", script), workspace), **fields))


def python(script: str, workspace: Workspace | None = None, **fields: Any) -> Finished:
    return runner.run(replace(Spec(("python3", "-c", script), workspace), **fields))


def frozen(workspace: Workspace, *remove: str) -> Workspace:
    return replace(workspace, frozen=True, remove=remove)

"""Versions of the parts that a runtime record notes: facts for people, never part of a key."""

from __future__ import annotations

import importlib.metadata

from bench.effects.sandbox import runner
from bench.errors import MissingPart


def recorded() -> dict[str, str | None]:
    """{litellm, bubblewrap, kernel}; None for what is not there, which the sandbox itself refuses in words."""
    return {"litellm": _litellm()} | _sandbox()


def _litellm() -> str | None:
    try:
        return importlib.metadata.version("litellm")
    except importlib.metadata.PackageNotFoundError:
        return None


def _sandbox() -> dict[str, str | None]:
    try:
        return dict(runner.versions())
    except MissingPart:
        return {"bubblewrap": None, "kernel": None}

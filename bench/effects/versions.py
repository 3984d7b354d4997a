"""Versions of the parts that a runtime record notes: facts for people, never part of a key."""

from __future__ import annotations

import importlib.metadata
import platform

from bench.effects.sandbox import bwrap
from bench.errors import MissingPart


def recorded() -> dict[str, str | None]:
    """{litellm, bubblewrap, kernel}; None for what is not there."""
    return {"litellm": _distribution("litellm"), "bubblewrap": _bubblewrap(), "kernel": platform.release()}


def _distribution(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _bubblewrap() -> str | None:
    try:
        return bwrap.program()[1]
    except MissingPart:
        return None

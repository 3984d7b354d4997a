"""Model ids: any that LiteLLM may know, or `replay/<cassette>`; never one that names another model tomorrow."""

from __future__ import annotations

import re

from bench.core import names
from bench.core.names import shown
from bench.errors import CorpusError

MAX_BYTES = 256
REPLAY = "replay/"
_MOVING = re.compile(r"(?:^|[-/@:])(?:auto|latest)$", re.IGNORECASE)


def check(model: str, where: str) -> str:
    """The id itself. Raises CorpusError for blanks, white space, and ids that end in `auto` or `latest` (spec 2.12)."""
    if not model.isprintable() or not model or " " in model or len(model.encode()) > MAX_BYTES:
        raise CorpusError(
            f"model: {shown(model)} is not a model id", where=where, remedy="give an id such as provider/model"
        )
    if _MOVING.search(model):
        raise CorpusError(f"model: {shown(model)} names another model tomorrow", where=where, remedy="pin a version")
    if model.startswith(REPLAY):
        names.check(model.removeprefix(REPLAY), where)
    return model


def cassette(model: str | None) -> str | None:
    """The cassette behind a `replay/<cassette>` id, else None."""
    return model.removeprefix(REPLAY) if model and model.startswith(REPLAY) else None

"""Promotions on the console: a line each for a suite, the whole table for one that was asked for, and its exit code."""

from __future__ import annotations

import bench.layout as layout
from bench.core.gate import PROMOTE
from bench.effects import console
from bench.make import promotions
from bench.make.pipeline import Pipeline

FAILED = 1
KIND = "promotion"


def lines(pipeline: Pipeline, suite: str) -> list[str]:
    """One line per candidate of the suite, in its order."""
    bodies = (pipeline.workspace.said(path) for path in promotions.needs(pipeline, suite).values())
    return [str(body["line"]) for body in bodies if body and body.get("line")]


def tell(pipeline: Pipeline, names: list[str]) -> int:
    """Print the table of each promotion that was asked for by name; 1 unless all of them promote (design section 7)."""
    code = 0
    for name in names:
        kind, _, rest = name.partition(":")
        if kind != KIND or not rest:
            continue
        body = pipeline.workspace.said(layout.record(KIND, rest))
        for line in (body or {}).get("lines", []):
            console.say(str(line))
        if body is None or body.get("decision") != PROMOTE:
            told = "has no record" if body is None else f"is {body.get('decision')}"
            console.say_err(f"error: promotion {rest} {console.visible(told)}")
            code = FAILED
    return code

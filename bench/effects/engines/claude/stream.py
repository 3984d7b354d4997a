"""Reads the stream-json that the client printed: strict, bounded by who captured it, and pure.

Every line is one JSON object in UTF-8 without NaN or infinities; exactly one event is the result, and only system events
follow it. What is wrong is named and nothing is mended: complete lines before a fault or a cut are kept. Words in the
events are never judged here.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bench.core.records import TOKENS

_IN_TOTALS = ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens", "outputTokens")
MAX_DEPTH = 200
Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stream:
    """`events` up to and with the result; system events after it are left out."""

    events: tuple[Event, ...]
    result: Event | None
    faults: tuple[str, ...] = ()
    truncated: bool = False
    """The output stopped in the middle of a line."""

    @property
    def usage(self) -> dict[str, int] | None:
        """The four token counts of the result, each a whole number of 0 or more, or None."""
        return tokens_of((self.result or {}).get("usage"))

    @property
    def total(self) -> dict[str, int] | None:
        """Token counts over all models of the result, subagents included, or None."""
        models = (self.result or {}).get("modelUsage")
        if not isinstance(models, dict) or not models:
            return None
        total = dict.fromkeys(TOKENS, 0)
        for entry in models.values():
            entry = entry if isinstance(entry, dict) else {}
            counts = tokens_of({ours: entry.get(name) for ours, name in zip(TOKENS, _IN_TOTALS, strict=True)})
            if counts is None:
                return None
            total = {name: total[name] + counts[name] for name in TOKENS}
        return total

    @property
    def cost_usd(self) -> float | None:
        """The client's own figure: a finite number of 0 or more, else None. A real 0.0 stays 0.0."""
        cost = (self.result or {}).get("total_cost_usd")
        if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 <= cost <= sys.float_info.max:
            return None
        return float(cost)

    @property
    def turns(self) -> int:
        """Turns of the result, else the answers of the main conversation that were seen."""
        said = (self.result or {}).get("num_turns")
        if isinstance(said, int) and not isinstance(said, bool) and said >= 0:
            return said
        return len({message.get("id") for event, message in messages(self.events) if event["type"] == "assistant"})


def tokens_of(usage: object) -> dict[str, int] | None:
    """Four whole token counts, or None when one is missing or something else."""
    if not isinstance(usage, Mapping):
        return None
    counts = {name: usage.get(name) for name in TOKENS}
    fine = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts.values())
    return {name: int(counts[name] or 0) for name in TOKENS} if fine else None


def messages(events: tuple[Event, ...]) -> Iterator[tuple[Event, Mapping[str, Any]]]:
    """Events of the main conversation that hold a message, with it; a subagent's are left out."""
    for event in events:
        message = event.get("message")
        if event.get("type") in ("assistant", "user") and isinstance(message, dict) and not event.get("parent_tool_use_id"):
            yield event, message


def blocks(event: Event) -> list[Mapping[str, Any]]:
    """Content blocks of one event, wherever they stand."""
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else event.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def parse(raw: bytes) -> Stream:
    """The stream that the bytes hold."""
    *whole, rest = raw.split(b"\n")
    events: list[Event] = []
    faults: list[str] = []
    truncated = False
    for number, line in enumerate([*whole, *([rest] if rest else [])], 1):
        last = number > len(whole)
        event = _event(line)
        if isinstance(event, dict):
            events.append(event)
        elif last:
            truncated = True
            faults.append("the output stops in the middle of a line")
        else:
            faults.append(f"line {number} {event}")
            break
    return _windowed(events, faults, truncated)


def _windowed(events: list[Event], faults: list[str], truncated: bool) -> Stream:
    places = [place for place, event in enumerate(events) if event.get("type") == "result"]
    if not places:
        faults += [] if faults else ["there is no event" if not events else "there is no result"]
        return Stream(tuple(events), None, tuple(faults), truncated)
    after = events[places[0] + 1 :]
    if len(places) > 1:
        faults.append(f"there are {len(places)} results")
    elif any(event.get("type") != "system" for event in after):
        faults.append("something but system events follows the result")
    return Stream(tuple(events[: places[0] + 1]), events[places[0]], tuple(faults), truncated)


def _event(line: bytes) -> Event | str:
    """The object of a line, or what is wrong with it."""
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_refuse, parse_float=_finite)
    except UnicodeDecodeError:
        return "is not UTF-8"
    except (ValueError, RecursionError):
        return "is not JSON"
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return "is not an event"
    return value if _shallow(value) else "is nested too deeply"


def _shallow(value: Any, left: int = MAX_DEPTH) -> bool:
    if left == 0:
        return False
    if isinstance(value, dict):
        return all(_shallow(item, left - 1) for item in value.values())
    return all(_shallow(item, left - 1) for item in value) if isinstance(value, list) else True


def _refuse(text: str) -> float:
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number

"""Reads the usage lines that the proxy writes, and makes of a session's lines what its traffic was.

A forwarded call without a line is counted as one whose usage is unknown, never as one that used nothing.
"""

from __future__ import annotations

import datetime
import json
import math
import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.core import outages
from bench.effects import clock
from bench.effects.gateway import usage
from bench.errors import StepFailed

POLL_S = 0.02


class Ledger:
    """The lines of one proxy, by session."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rest = b""
        self._lines: dict[str, list[dict[str, Any]]] = {}
        self._seen: set[tuple[Any, Any]] = set()
        self._guard = threading.Lock()
        self._until = math.inf

    def lines(self, session: str) -> list[dict[str, Any]]:
        """All that are written so far."""
        with self._guard:
            self._read()
            return list(self._lines.get(session, ()))

    def wait(self, session: str, calls: Collection[str], seconds: float) -> list[dict[str, Any]]:
        """The session's lines as soon as each of `calls` (their numbers) has one, or when the time is up."""
        deadline = clock.monotonic() + seconds
        while True:
            found = self.lines(session)
            if set(calls) <= {line.get("call") for line in found} or clock.monotonic() > min(deadline, self._until):
                return found
            clock.sleep(POLL_S)

    def hurry(self, seconds: float) -> None:
        """All waits, running ones too, end within this time together."""
        self._until = min(self._until, clock.monotonic() + seconds)

    def forget(self, session: str) -> None:
        """Drop a session's lines from memory."""
        with self._guard:
            self._lines.pop(session, None)

    def _read(self) -> None:
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
        except OSError:
            return  # not there yet, or not to be read now: calls without lines are calls of unknown usage
        self._offset += len(data)
        *whole, self._rest = (self._rest + data).split(b"\n")
        for text in whole:
            try:
                line = json.loads(text)
            except ValueError:
                continue  # a line torn by a full disk: its call is one without a line
            # LiteLLM may tell both kinds of hooks of one call.
            name = (line.get("upstream_id"), line.get("status"))
            if name[0] is None or name not in self._seen:
                self._seen.add(name)
                self._lines.setdefault(str(line.get("session_id")), []).append(line)


def entry(line: Mapping[str, Any], *, cut: bool = False) -> dict[str, Any]:
    """A usage line as `Traffic.calls` holds it. Counts that cannot be are unknown, and `fault` says why: what a provider
    miscounts must not cost the session that was paid for."""
    native, fault = line.get("native_usage"), None
    try:
        counted = usage.normalised(native, usage.form_of(native)) if line.get("status") in ("ok", "cut") else None
    except StepFailed as refused:
        counted, fault = None, str(refused)
    names = (
        "status",
        "requested_model",
        "actual_model",
        "provider",
        "response_id",
        "call_type",
        "effort",
        "started_at",
        "completed_at",
    )
    made = {name: line.get(name) for name in names} | {"usage": counted, "dollars": line.get("list_price_usd")}
    if fault is not None:
        made["fault"] = fault
    if cut and made["status"] == "ok":
        made["status"] = "cut"  # the proxy does not always notice that nobody took the rest
    if line.get("status") == "failed":
        made |= {"http_status": line.get("http_status"), "error": line.get("error_type") or line.get("error_class")}
    return made


def lost(model: str, status: int | None) -> dict[str, Any]:
    """The entry of a forwarded call that the proxy never told of: refused before it went on, or lost with its usage."""
    made = {"status": "unaccounted", "requested_model": model, "usage": None, "dollars": None}
    return made if status is None or status < 400 else made | {"status": "failed", "http_status": status}


def spent(lines: Sequence[Mapping[str, Any]]) -> tuple[float, bool]:
    """Dollars at list price of answered calls, and whether all of them have a price."""
    answered = [line for line in lines if line.get("status") != "failed"]
    prices = [line.get("list_price_usd") for line in answered]
    return sum(price for price in prices if isinstance(price, int | float)), None not in prices


def counted(calls: Sequence[Mapping[str, Any]]) -> dict[str, int] | None:
    """Tokens over all calls but those that failed before an answer; None where one is unknown."""
    return usage.total(call["usage"] for call in calls if call["status"] != "failed")


def outage(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Of the last call, where the service failed it: {cls, status?, resets_at?}. What came right again is none."""
    if not lines or lines[-1].get("status") != "failed":
        return None
    last = lines[-1]
    ended = last.get("completed_at")
    now = datetime.datetime.fromisoformat(ended).timestamp() if ended else clock.now_utc().timestamp()
    found = outages.of_call(last, now)
    return None if found is None else found.told()

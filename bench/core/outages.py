"""What a failed model call says of the service behind it: structured fields only, never words that a model or tool may say.

An outage is the service's failure and no evidence about an arm. What a request itself did wrong (400, 404, 413) is none.
Times are seconds since 1970; the caller has the clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.core import calendar
from bench.core.numbers import finite

CLASSES = ("rate-limit", "usage-limit", "overloaded", "auth", "network", "server")
MARGIN_S = 15.0
"""After a reset that the service named, before work goes on."""
FALLBACK_S = 300.0
"""The pause where it named none."""
LONGEST_S = 6 * 3600.0
"""No pause is longer, whatever was named."""

_BY_TYPE = {
    "rate_limit_error": "rate-limit",
    "rate_limit_exceeded": "rate-limit",
    "insufficient_quota": "usage-limit",
    "billing_error": "usage-limit",
    "overloaded_error": "overloaded",
    "authentication_error": "auth",
    "permission_error": "auth",
    "invalid_api_key": "auth",
}
_BY_STATUS = {401: "auth", 402: "usage-limit", 403: "auth", 408: "network", 429: "rate-limit", 529: "overloaded"}
_UNREACHED = {"APIConnectionError", "Timeout", "APITimeoutError", "ConnectError", "ReadTimeout", "ConnectTimeout"}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LIMITED = {"rejected", "blocked", "exceeded"}


@dataclass(frozen=True, slots=True)
class Outage:
    """cls: one of CLASSES. resets_at: when the service said that it works again, None where it did not."""

    cls: str
    resets_at: float | None = None
    status: int | None = None

    def told(self) -> dict[str, Any]:
        """As it stands in a record: what is unknown is left out."""
        known = {"cls": self.cls, "resets_at": self.resets_at, "status": self.status}
        return {name: value for name, value in known.items() if value is not None}


def of_call(call: Mapping[str, Any], now: float) -> Outage | None:
    """Of a failed call: {http_status, error_type, error_class, headers, answered}; None when it was no outage."""
    status, kind = call.get("http_status"), call.get("error_type")
    headers = {str(k).lower(): str(v) for k, v in (call.get("headers") or {}).items()}
    cls = _BY_TYPE.get(kind) if isinstance(kind, str) else None
    # Where nobody answered, a status is the word of our own proxy and says nothing of the service.
    silent = call.get("answered") is False and (not isinstance(status, int) or status >= 500)
    if cls is None and (silent or (status is None and call.get("error_class") in _UNREACHED)):
        cls = "network"
    if cls is None and isinstance(status, int):
        cls = _BY_STATUS.get(status) or ("server" if status >= 500 else None)
    if cls is None:
        return None
    limited = cls in ("rate-limit", "usage-limit", "overloaded")
    return Outage(cls, resets(headers, now) if limited else None, status if isinstance(status, int) else None)


def of_event(event: Mapping[str, Any]) -> Outage | None:
    """Of a `rate_limit_event` of the client's stream ({rate_limit_info: {status, resetsAt?, rateLimitType?}}); None for any
    other event, and for one that only warns."""
    if event.get("type") != "rate_limit_event":
        return None
    told = event.get("rate_limit_info")
    told = told if isinstance(told, Mapping) else {}
    if told.get("status") not in _LIMITED:
        return None
    at = finite(told.get("resetsAt"))
    return Outage("usage-limit", _seconds(at) if at is not None and at > 0 else None)


def _seconds(at: float) -> float:
    return at / 1000 if at > 1e11 else at  # some clients tell milliseconds


def resets(headers: Mapping[str, str], now: float) -> float | None:
    """The latest moment that rate-limit headers name (lower-case names): retry-after, or the resets of exhausted limits."""
    found: list[float] = []
    after = _number(headers.get("retry-after"))
    if after is not None:
        found.append(now + after)
    for name, text in headers.items():
        reset = re.fullmatch(r"(anthropic-ratelimit-.+)-reset|x-ratelimit-reset-(.+)", name)
        if reset is None:
            continue
        left = headers.get(f"{reset[1]}-remaining" if reset[1] else f"x-ratelimit-remaining-{reset[2]}")
        if left is not None and _number(left) != 0:
            continue
        at = stamp(text) if stamp(text) is not None else _span(text, now)
        found += [] if at is None else [at]
    return max(found, default=None)


def _number(text: str | None) -> float | None:
    if text is None or not re.fullmatch(r"\s*[0-9]{1,12}(?:\.[0-9]{1,9})?\s*", text):
        return None
    return float(text)


def _span(text: str, now: float) -> float | None:
    """`6m0s`, `120ms` or plain seconds from now; a number above a thousand million is a moment."""
    plain = _number(text) if re.fullmatch(r"[0-9.]{1,20}", text) else None
    if plain is not None:
        return plain if plain > 1e9 else now + plain
    parts = _SPAN.findall(text)
    if not parts or "".join(a + b for a, b in parts) != text or len(text) > 40:
        return None
    return now + sum(float(amount) * _UNITS[unit] for amount, unit in parts)


def stamp(text: str) -> float | None:
    """Seconds since 1970 of an RFC 3339 moment, None when it is none."""
    try:
        return calendar.moment(text.strip()).timestamp()
    except (ValueError, OverflowError):
        return None


def pause(outage: Outage, now: float) -> float:
    """Seconds for which nothing should be started: to the named reset plus a margin, or the fallback; never above LONGEST_S.
    A wait is no retry and is charged to nobody."""
    if outage.resets_at is None:
        return FALLBACK_S
    return min(max(0.0, outage.resets_at - now) + MARGIN_S, LONGEST_S)

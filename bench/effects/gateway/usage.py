"""Token counts of different providers, in four disjoint fields. What a provider did not say stays unknown: it is never 0.

Three forms are known: Anthropic's, where `input_tokens` is the uncached remainder, Responses' and Chat Completions',
where the input is the whole. Reasoning is part of the output. Anything else is refused, for a wrong guess would be a price.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bench.core.records import TOKENS
from bench.errors import StepFailed


def normalised(usage: Mapping[str, Any] | None, form: str) -> dict[str, int] | None:
    """`form`: "anthropic", "responses" or "chat". None when nothing, or not both sides, was told.

    Raises StepFailed for counts that cannot be (negative, not whole numbers) and for a form that is not known.
    """
    if form not in _READERS:
        raise StepFailed(f"usage of an unknown form {form!r}", remedy="one of " + ", ".join(_READERS))
    if not usage:
        return None
    whole, written, read, output = _READERS[form](usage)
    if whole is None or output is None:
        return None
    plain = whole if form == "anthropic" else whole - read - written
    found = dict(zip(TOKENS, (plain, written, read, output), strict=True))
    for name, value in found.items():
        if value < 0:
            raise StepFailed(f"a usage of {value} {name}", remedy="the cached tokens are more than the whole input")
    return found


def _anthropic(usage: Mapping[str, Any]) -> tuple[int | None, int, int, int | None]:
    return (
        _count(usage, "input_tokens"),
        _count(usage, "cache_creation_input_tokens") or 0,
        _count(usage, "cache_read_input_tokens") or 0,
        _count(usage, "output_tokens"),
    )


def _responses(usage: Mapping[str, Any]) -> tuple[int | None, int, int, int | None]:
    details = usage.get("input_tokens_details") or {}
    written = _count(details, "cache_write_tokens") or 0
    return _count(usage, "input_tokens"), written, _count(details, "cached_tokens") or 0, _count(usage, "output_tokens")


def _chat(usage: Mapping[str, Any]) -> tuple[int | None, int, int, int | None]:
    details = usage.get("prompt_tokens_details") or {}
    written = _first(_count(details, "cache_creation_tokens"), _count(details, "cache_write_tokens"))
    written = _first(written, _count(usage, "cache_creation_input_tokens"))
    read = _first(_count(details, "cached_tokens"), _count(usage, "cache_read_input_tokens"))
    return _count(usage, "prompt_tokens"), written or 0, read or 0, _count(usage, "completion_tokens")


_READERS = {"anthropic": _anthropic, "responses": _responses, "chat": _chat}


def _first(one: int | None, other: int | None) -> int | None:
    return other if one is None else one


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise StepFailed(f"{name} is {str(value)[:40]!r}, not a number of tokens")
    return value


def form_of(usage: Mapping[str, Any] | None) -> str:
    """The form that a usage has by its field names; LiteLLM reports every provider's in the form of Chat Completions."""
    if not usage or "prompt_tokens" in usage:
        return "chat"
    return "responses" if "input_tokens_details" in usage else "anthropic"


def total(usages: Iterable[Mapping[str, int] | None]) -> dict[str, int] | None:
    """Sum by field; None as soon as one is unknown. Of nothing: zeros."""
    sums = dict.fromkeys(TOKENS, 0)
    for usage in usages:
        if usage is None:
            return None
        sums = {name: sums[name] + usage[name] for name in TOKENS}
    return sums

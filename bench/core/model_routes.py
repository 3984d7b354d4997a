"""Which provider a model id belongs to, and which key that takes. One rule for suites, gateway and reports.

`provider=auto`: a prefix that LiteLLM knows decides (`anthropic/…`, `openai/…`, `openrouter/…`); without one, `claude-` is
Anthropic's and `gpt-`, `chatgpt-`, `o` and a digit are OpenAI's; anything else must say its provider. `provider=anthropic`
and `provider=openai` insist, and settle ids without a prefix. A key is never used for another provider than its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from bench.core import model_access, model_id
from bench.errors import CorpusError, MissingPart

PROVIDERS = ("auto", "anthropic", "openai")
REPLAY = "replay"
ROUTE: Mapping[str, Any] = {"provider": "auto", "base_url": None}
"""Settings of an arm that say where its model is served, with their defaults. A replay has no use for them."""
KEYS = {
    "anthropic": ("BENCH_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY", "GITNEXUS_BENCH_ANTHROPIC_API_KEY"),
    "openai": ("BENCH_OPENAI_API_KEY", "OPENAI_API_KEY", "GITNEXUS_BENCH_OPENAI_API_KEY"),
}
"""Provider → the variables that may hold its key; the first that is set wins."""
KEYLESS = frozenset({REPLAY, "ollama", "ollama_chat", "hosted_vllm", "lm_studio", "llamafile", "custom_openai"})
"""Served by the user's own machine."""

_OPENAI = re.compile(r"(?:gpt-|chatgpt-|o[0-9])")
_NAMES = {"anthropic": "Anthropic", "openai": "OpenAI"}


def provider_of(model: str, wanted: str = "auto") -> str:
    """The provider that serves an id: `anthropic`, `openai`, `replay`, or another of LiteLLM's names.

    Raises CorpusError for an id that moves (`latest`, `auto`), that names no provider, or that is not `wanted`'s.
    """
    model_id.check(model, "model")
    if wanted not in PROVIDERS:
        raise CorpusError(f"unknown provider {wanted!r}", remedy="one of " + ", ".join(PROVIDERS))
    prefix, slash, _rest = model.partition("/")
    found = prefix if slash else _family(model)
    if found == REPLAY or wanted == "auto":
        if found is None:
            raise CorpusError(
                f"{model!r} does not say whose model it is",
                remedy="write provider/model, such as anthropic/claude-sonnet-4-5",
            )
        return found
    if found not in (None, wanted):
        raise CorpusError(
            f"provider={wanted} was asked for, and {model!r} is {_NAMES.get(found, found)}'s",
            remedy=f"use provider=auto, or a model of {_NAMES[wanted]}",
        )
    return wanted


def _family(model: str) -> str | None:
    if model.startswith("claude-"):
        return "anthropic"
    return "openai" if _OPENAI.match(model) else None


def route(model: str, wanted: str = "auto") -> str:
    """The id as LiteLLM takes it, with its provider in front. Raises as `provider_of`."""
    provider = provider_of(model, wanted)
    return model if model.startswith(f"{provider}/") else f"{provider}/{model}"


def settings(params: Mapping[str, Any], model: str | None) -> dict[str, Any]:
    """An arm's settings as they reach a result: without defaults that were spelt out, and, for a replay, without a route."""
    unused = REPLAY if model is not None and model.startswith(f"{REPLAY}/") else None
    return {key: value for key, value in params.items() if key not in ROUTE or not (unused or value == ROUTE[key])}


def address_fault(address: str) -> str | None:
    """What is wrong with a `base_url`; None when it can be one: http or https, a host, nothing that belongs to a call."""
    try:
        parts = urlsplit(address)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return "is no address"
    if parts.scheme not in ("http", "https") or not host or not address.isprintable() or " " in address:
        return "is not an http or https address"
    if "@" in parts.netloc:
        return "holds credentials; a key is given in the environment"
    return "has a query or a fragment" if "?" in address or "#" in address else None


def bare(model: str) -> str:
    """The id without its provider, as a client of that provider writes it."""
    return model.partition("/")[2] or model


def key_names(provider: str) -> tuple[str, ...]:
    """The variables that may hold a provider's key, best first; none for one that takes none."""
    if provider in KEYS:
        return KEYS[provider]
    held = (name for way in ways(provider) for name in way if name.endswith("_API_KEY"))
    return tuple(dict.fromkeys(held))


def ways(provider: str) -> tuple[tuple[str, ...], ...]:
    """Sets of variables of which one whole set opens a provider, the plainest first; none for one that needs none."""
    if provider in KEYLESS:
        return ()
    if provider in model_access.TABLE:
        return model_access.TABLE[provider].ways
    return tuple((name,) for name in KEYS.get(provider, (f"{provider.upper().replace('-', '_')}_API_KEY",)))


def opens(variable: str) -> bool:
    """Whether a variable is one that opens some provider."""
    return variable.endswith("_API_KEY") or variable in model_access.VARIABLES


def _remedy(provider: str) -> str:
    plainest, *others = ways(provider)
    told = f"set {' and '.join(plainest)}"
    return f"{told}; docs/gateway.md has other ways" if others and provider not in KEYS else told


def check_keys(models: Iterable[str], present: Collection[str], wanted: str = "auto") -> None:
    """That every model has what opens its provider. `present`: names of the variables that are set and not blank.

    Raises MissingPart naming the model, the variables to set, and the key that is there but is another provider's.
    """
    by_provider: dict[str, str] = {}
    for model in models:
        by_provider.setdefault(provider_of(model, wanted), model)
    lacking = [p for p in by_provider if ways(p) and not any(set(way) <= set(present) for way in ways(p))]
    for provider in sorted(lacking):
        theirs = [p for p in KEYS if p != provider and any(name in present for name in KEYS[p])]
        name = _NAMES.get(provider, provider)
        what = f"no key for {name}"
        if len(by_provider) > 1:
            what = f"models of {' and '.join(sorted(by_provider))} are asked for, and there is no key for {name}"
        elif theirs:
            what = f"the key that is set is {_NAMES[theirs[0]]}'s, and this model is {name}'s"
        raise MissingPart(what, where=by_provider[provider], remedy=_remedy(provider))


def check_key(provider: str, key: str, *, own_address: bool = False) -> None:
    """That a key looks like its provider's. Raises MissingPart; says nothing of keys for an address of the user's own."""
    anthropic = key.startswith("sk-ant-")
    if own_address or provider not in KEYS:
        return
    if (provider == "openai" and anthropic) or (provider == "anthropic" and key.startswith("sk-") and not anthropic):
        other = "Anthropic" if anthropic else "OpenAI"
        raise MissingPart(
            f"the key given for {_NAMES[provider]} looks like one of {other}'s",
            remedy=f"set {KEYS[provider][0]} to a key of {_NAMES[provider]}",
        )

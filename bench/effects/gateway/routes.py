"""Makes of what a session asks for a route: model, address and keys as the proxy takes them, or a cassette to play.

Which provider an id belongs to is `core.model_routes`' to say. Keys come from the environment alone, and leave this process
only as variables of the proxy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.core import model_routes
from bench.effects import cassettes, env, model_keys
from bench.effects.gateway import Ask

STANDARD = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
"""Variables that LiteLLM itself reads."""
REPLAY_KEY = "sk-replay-of-a-cassette"


@dataclass(frozen=True, slots=True)
class Route:
    """model: what the client names. `signed`: what the minted key says, but for session and replay address."""

    model: str
    signed: Mapping[str, Any]
    player: cassettes.Player | None = None


def route(ask: Ask) -> Route:
    """Raises CorpusError for ids and cassettes that cannot be served, MissingPart for keys."""
    provider = model_routes.provider_of(ask.model, ask.provider)
    if provider == model_routes.REPLAY:
        return _replay(ask)
    if ask.base_url is None or provider in model_routes.KEYS:
        model_routes.check_keys([ask.model], env.names(), ask.provider)
    key = model_keys.key_of(provider)
    if key is not None:
        model_routes.check_key(provider, key, own_address=ask.base_url is not None)
    full = model_routes.route(ask.model, ask.provider)
    signed: dict[str, Any] = {"model": full}
    if ask.base_url is not None:
        signed["api_base"] = ask.base_url
    if provider != "anthropic":
        # A client of the Messages API sends what other providers have no word for; LiteLLM leaves that out.
        signed["drop"] = True
    return Route(model_routes.bare(full), signed)


def _replay(ask: Ask) -> Route:
    name = ask.cassette_name or ask.model
    player = cassettes.Player.of(ask.cassette, name, skills=ask.skills, run=ask.run, effort=ask.effort)
    cassette = player.cassette
    last = cassette.model.rpartition("/")[2]
    # vLLM's protocol is Chat Completions as they were recorded; LiteLLM would ask OpenAI itself in another one.
    served = "anthropic" if cassette.format == "anthropic" else "hosted_vllm"
    signed = {"model": f"{served}/{last}", "api_key": REPLAY_KEY, "priced_as": cassette.model, "drop": served != "anthropic"}
    return Route(last, signed, player)


def provider_keys() -> dict[str, str]:
    """Every provider key of the environment, under the name that LiteLLM reads, and what else opens a provider."""
    others = (name for name in env.names() if model_routes.opens(name) and not _ours(name))
    found = {name: (env.get(name) or "").strip() for name in others}
    return found | {standard: key for provider, standard in STANDARD.items() if (key := model_keys.key_of(provider))}


def _ours(name: str) -> bool:
    return any(name in names for names in model_routes.KEYS.values())

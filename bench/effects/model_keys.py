"""The user's keys of model providers, out of the environment: one rule for both engines and what is refused beforehand."""

from __future__ import annotations

from bench.core import model_routes
from bench.effects import env


def key_of(provider: str) -> str | None:
    """The user's key for a provider, from our variables or the provider's own. One that is set and blank is none, and blanks
    at its ends, which a CI's secret often has, are no part of it."""
    kept = model_routes.key_names(provider) or (f"{provider.upper()}_API_KEY",)
    return next((key for name in kept if (key := (env.get(name) or "").strip())), None)

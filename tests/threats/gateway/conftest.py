"""What these threats are tried on: the real proxy, or a small program in its place where LiteLLM is not the point."""

from __future__ import annotations

from tests.effects.gateway.conftest import one_gateway, provider, proxied, stand_in

__all__ = ["one_gateway", "provider", "proxied", "stand_in"]

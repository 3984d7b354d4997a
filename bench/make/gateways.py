"""The run's one gateway: started by the first session that asks for it, stopped with the run however that ends.

Nothing of it is imported before. A `doit` that is killed outright cannot stop it; its own supervisor does that.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from bench.errors import Cancelled

if TYPE_CHECKING:
    from bench.effects.gateway import Gateway


class RunGateway:
    """Called by sessions, from any worker."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gateway: Gateway | None = None
        self._closed = False

    def __call__(self) -> Gateway:
        """The gateway. Raises Cancelled once the run has ended, MissingPart where it is not installed."""
        with self._lock:
            if self._closed:
                raise Cancelled("the run has ended", where="gateway")
            if self._gateway is None:
                from bench.effects import gateway

                self._gateway = gateway.create()
            return self._gateway

    def close(self) -> None:
        """Stop it, and every session's way to a model with it; safe to call twice."""
        with self._lock:
            self._closed = True
            gateway, self._gateway = self._gateway, None
        if gateway is not None:
            gateway.close()

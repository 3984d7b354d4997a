"""The gateway over LiteLLM's proxy: nothing runs until a session needs it, then one proxy serves all of them."""

from __future__ import annotations

import contextlib
import secrets
import threading

from bench.effects import redact
from bench.effects.gateway import Ask, Door, keys, routes
from bench.effects.gateway.door import Fittings, SocketDoor
from bench.effects.gateway.forward import Forwarder
from bench.effects.gateway.gate import Gate
from bench.effects.gateway.ledger import Ledger
from bench.effects.gateway.process import Proxy
from bench.effects.gateway.replays import Replays
from bench.errors import Cancelled

LAST_S = 0.5
"""How long the end of a run waits for the lines of calls that it cuts, over all of them: a call that was cut before its
answer began never has one."""


class LiteLLMGateway:
    """A `Gateway`. Safe to use from several threads."""

    def __init__(self, program: str | None = None) -> None:
        """`program`: the proxy's console script, where it is not the one beside our Python."""
        self._program = program
        self._guard = threading.Lock()
        self._ending = threading.Event()
        self._proxy: Proxy | None = None
        self._ledger: Ledger | None = None
        self._replays: Replays | None = None
        self._doors: dict[str, SocketDoor] = {}
        self._made = 0

    def open(self, ask: Ask) -> Door:
        """As the seam says."""
        route = routes.route(ask)
        with self._guard:
            if self._ending.is_set():
                raise Cancelled("the model gateway was closed")
            proxy, ledger = self._started()
            self._made += 1
            folder = proxy.root / f"d{self._made}"
            token = secrets.token_hex(8)
            name = f"{ask.session}#{token}"
            signed = dict(route.signed) | {"session": name}
            if route.player is not None:
                self._replays = self._replays or Replays()
                signed["api_base"] = self._replays.open(token, route.player)
            key = keys.mint(proxy.secret, signed)
            placeholder = keys.placeholder()
            secret = [*redact.known_secrets(), *redact.known_secrets(routes.provider_keys()), key, proxy.secret, placeholder]
            redactor = redact.Redactor(secret, redact.host_paths(proxy.root))
            parts = Fittings(
                ask=ask,
                name=name,
                gate=Gate(route.model, placeholder, ask.client),
                forwarder=Forwarder(proxy.port, key, redactor),
                ledger=ledger,
                redactor=redactor,
                player=route.player,
                spent=lambda dollars: self._spent(ask, dollars),
                closed=lambda: self._forget(token),
            )
            door = SocketDoor(folder, route.model, placeholder, parts)
            self._doors[token] = door
            return door

    def _started(self) -> tuple[Proxy, Ledger]:
        if self._proxy is not None and not self._proxy.running:
            self._proxy.close()
            self._proxy = None
        if self._proxy is None or self._ledger is None:
            self._proxy = Proxy(routes.provider_keys(), self._ending, self._program)
            self._ledger = Ledger(self._proxy.usage)
        return self._proxy, self._ledger

    def _spent(self, ask: Ask, dollars: float) -> None:
        ask.spent(dollars)
        for door in list(self._doors.values()):  # others may live of the same money
            door.bound()

    def _forget(self, token: str) -> None:
        self._doors.pop(token, None)
        if self._replays is not None:
            self._replays.shut(token)

    @property
    def proxy(self) -> Proxy | None:
        """The running proxy, for whoever watches it."""
        return self._proxy

    def close(self) -> None:
        """As the seam says. What one part raises is raised when all the others are closed."""
        self._ending.set()
        with self._guard, contextlib.ExitStack() as parts:
            doors = list(self._doors.values())
            for door in doors:
                door.hurry(LAST_S)
            if self._proxy is not None:
                parts.callback(self._proxy.close)
            if self._replays is not None:
                parts.callback(self._replays.close)
            for door in doors:
                parts.callback(door.close)
            self._replays = self._proxy = self._ledger = None

"""One session's door: a Unix socket with a listener behind it, outside the sandbox.

Every request passes the gate; what passes is carried to the proxy under the session's minted key. Revoking cuts what is in
flight. The door counts what it sent, so that a call that the proxy does not tell of is missed.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h11

from bench.effects import cassettes
from bench.effects.cassette_record import Recorded, Recording
from bench.effects.gateway import SOCKET, Ask, Traffic, ledger, replays
from bench.effects.gateway.calls import Calls
from bench.effects.gateway.forward import Cut, Forwarder
from bench.effects.gateway.gate import MESSAGES, Call, Gate
from bench.effects.gateway.ledger import Ledger
from bench.effects.gateway.recorder import Tape
from bench.effects.gateway.wire import Answer, Asked, Bound, Crowded, Exchange, Oversized, refusal
from bench.effects.redact import Redactor

SETTLE_S = 5.0
"""How long the end of a session waits for the lines of its last calls."""
BUDGET_SETTLE_S = 2.0
MOST_CONNECTIONS = 64
"""At a time; a client with a dozen subagents uses about as many."""


@dataclass(frozen=True, slots=True)
class Fittings:
    """What a door is made of. `name` is the session in the ledger."""

    ask: Ask
    name: str
    gate: Gate
    forwarder: Forwarder
    ledger: Ledger
    redactor: Redactor
    player: cassettes.Player | None
    """Of a replay."""
    spent: Callable[[float], None]
    """Told of dollars as soon as they are known to be spent."""
    closed: Callable[[], None]
    """Called once, at the end."""


class Shut(Exception):
    """The door was shut before the call went out: its client can be told so."""


class SocketDoor:
    """A `Door`."""

    def __init__(self, folder: Path, model: str, placeholder: str, parts: Fittings) -> None:
        self.folder, self.model, self.placeholder = folder, model, placeholder
        self._parts = parts
        ask = parts.ask
        live = parts.player is None
        self._tape = Tape(Recorded(ask.model, ask.effort, ask.skills, ask.run)) if live else None
        self._bound = Bound()
        self._guard = threading.Lock()
        self._closing = threading.Lock()
        self._sockets: set[socket.socket] = set()
        """Of clients."""
        self._flying: set[socket.socket] = set()
        """To the proxy, of calls under way."""
        self._calls = Calls(parts.ledger, parts.name)
        self._traffic: Traffic | None = None
        folder.mkdir(mode=0o700)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / SOCKET))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True, name="model door").start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _peer = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True, name="model call").start()

    def _serve(self, connection: socket.socket) -> None:
        exchange = Exchange(connection, self._bound)
        with self._guard:
            crowded = len(self._sockets) >= MOST_CONNECTIONS
            self._sockets.add(connection)
        try:
            if crowded:
                return
            for asked in exchange.requests():
                self._one(exchange, asked)
        except Oversized:
            self._last(exchange, refusal(413, "request_too_large", "the request is above 64 MB"))
        except h11.RemoteProtocolError:
            self._last(exchange, refusal(400, "invalid_request_error", "this is not HTTP/1.1"))
        except (Cut, OSError, h11.LocalProtocolError):
            pass  # the client went away, or its stream was cut: there is nobody to tell
        finally:
            with self._guard:
                self._sockets.discard(connection)
            exchange.release()
            connection.close()

    def _last(self, exchange: Exchange, answer: Answer) -> None:
        with contextlib.suppress(OSError, h11.LocalProtocolError):
            exchange.answer(answer, last=True)

    def _one(self, exchange: Exchange, asked: Asked) -> None:
        try:
            judged = self._parts.gate.judge(asked)
        except Crowded:
            judged = refusal(529, "overloaded_error", "the requests that run now leave no room for this one")
        if isinstance(judged, Answer):
            exchange.answer(judged)
            return
        player = self._parts.player
        if player is not None and replays.is_side(judged, player.cassette):
            exchange.answer(replays.side_answer(judged, self.model))
            return
        self._book()
        try:
            self._carry(exchange, judged)
        except Shut:  # since it was judged, by what this session or another has spent
            refused = self._parts.gate.judge(asked)
            if isinstance(refused, Answer):
                exchange.answer(refused)

    def _carry(self, exchange: Exchange, call: Call) -> None:
        carried = _Carried(self, call)
        try:
            self._parts.forwarder.carry(call, carried.number, exchange, carried)
        finally:
            carried.end()
            self._book()

    def _number(self) -> str:
        """The number of a call that goes out now. Raises Shut."""
        with self._guard:
            if self._parts.gate.is_shut:
                raise Shut
            return self._calls.start()

    def _hold(self, connection: socket.socket) -> None:
        """Have a connection cut when the door is revoked. Raises Cut when it is already."""
        with self._guard:
            if self._parts.gate.is_shut:
                raise Cut
            self._flying.add(connection)

    def _end(self, number: str, held: set[socket.socket]) -> None:
        self._calls.settle(number, None)
        with self._guard:
            self._flying -= held

    def _record(self, call: Call, events: list[dict[str, Any]]) -> None:
        """Keep an answered call."""
        if self._tape is not None and call.path == MESSAGES:
            self._tape.add(call.body, events)

    def _book(self) -> None:
        """Tell of what the calls have cost that came to their end, and see what is left."""
        if self._parts.player is not None or self._parts.gate.is_shut:
            return
        bounded = self._parts.ask.left() is not None
        self._tell(self._calls.fresh(BUDGET_SETTLE_S if bounded else 0.0))
        self.bound()

    def _tell(self, dollars: float) -> None:
        if dollars:
            self._parts.spent(dollars)

    def bound(self) -> None:
        """Refuse calls, and cut those under way, once nothing is left to be spent."""
        left = None if self._parts.player is not None else self._parts.ask.left()
        if left is not None and left <= 0:
            # A client whose call is cut is told why when it asks again.
            self._shut("budget", self._flying)

    def revoke(self) -> None:
        """As the seam says."""
        self._shut("revoked", self._flying, self._sockets)

    def _shut(self, why: str, *connections: set[socket.socket]) -> None:
        with self._guard:
            self._parts.gate.shut(why)
            cut = [connection for some in connections for connection in some]
        for connection in cut:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def hurry(self, seconds: float) -> None:
        """Revoke it; its end, and that of the proxy's other doors, waits no longer than this for lines."""
        self.revoke()
        self._parts.ledger.hurry(seconds)

    def close(self) -> Traffic:
        """As the seam says."""
        self.revoke()
        with self._closing:
            if self._traffic is None:
                with contextlib.suppress(OSError):
                    self._listener.shutdown(socket.SHUT_RDWR)
                self._listener.close()
                shutil.rmtree(self.folder, ignore_errors=True)
                try:
                    self._traffic = self._told()
                finally:
                    self._parts.closed()
            return self._traffic

    def _told(self) -> Traffic:
        parts, gate = self._parts, self._parts.gate
        account = self._calls.account(self.model, SETTLE_S)
        replayed = parts.player is not None
        if not replayed:
            self._tell(account.fresh)
        mismatch = parts.player.mismatch if parts.player is not None else None
        recording = self._tape.cassette(parts.redactor) if self._tape is not None else Recording(None)
        return Traffic(
            usage=ledger.counted(account.calls),
            calls=tuple(account.calls),
            spent_usd=0.0 if replayed else account.dollars,
            exact=replayed or account.exact,
            list_price_usd=account.dollars if account.exact else None,
            replayed=replayed,
            outage=None if replayed else ledger.outage(account.lines),
            broken=account.broken,
            refused=tuple(gate.refused),
            foreign=gate.foreign,
            efforts=dict(gate.efforts),
            mismatch=None if mismatch is None else str(mismatch),
            recording=recording.data,
            unrecorded=recording.fault,
        )


class _Carried:
    """One call on its way, as the forwarder tells of it."""

    def __init__(self, door: SocketDoor, call: Call) -> None:
        self._door, self._call = door, call
        self._held: set[socket.socket] = set()
        self.number = door._number()

    def hold(self, connection: socket.socket) -> None:
        self._door._hold(connection)
        self._held.add(connection)

    def answered(self, status: int, events: list[dict[str, Any]]) -> None:
        self._door._record(self._call, events)
        self._door._calls.settle(self.number, status)

    def unheard(self) -> None:
        self._door._calls.unheard(self.number)

    def end(self) -> None:
        self._door._end(self.number, self._held)

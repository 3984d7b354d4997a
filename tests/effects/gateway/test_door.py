"""A door between a client and what stands for the proxy: what is known of a call by the time that its answer is read."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import socket
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.effects import clock
from bench.effects.gateway import SOCKET, Ask
from bench.effects.gateway.door import Fittings, SocketDoor
from bench.effects.gateway.forward import Forwarder
from bench.effects.gateway.gate import Gate
from bench.effects.gateway.ledger import Ledger
from bench.effects.gateway.wire import MAX_BODY
from bench.effects.redact import Redactor
from tests.effects.gateway.clients import Connection, Purse, call, message
from tests.effects.gateway.provider import EVENTS, MESSAGE
from tests.effects.gateway.serving import Serving

MODEL = "claude-sonnet-4-5"


class Upstream(Serving):
    """Use as a context. Calls whose numbers are in `told` have a line in the ledger before their answer; a stream of
    `events` stops after its last one until `end` is set, and calls in `silent` have no answer before."""

    def __init__(self, ledger: Path) -> None:
        super().__init__(_Handler)
        self.ledger = ledger
        self.told: set[str] = set()
        self.silent: set[str] = set()
        self.heard = 0
        self.events = EVENTS
        self.end = threading.Event()

    def account(self, number: str) -> None:
        if number in self.told:
            usage = {"prompt_tokens": 1, "completion_tokens": 1}
            line = {"session_id": "s", "call": number, "upstream_id": number, "status": "ok", "native_usage": usage}
            with self.ledger.open("a") as file:
                file.write(json.dumps(line | {"list_price_usd": 0.001}) + "\n")


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Upstream

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.owner.account(self.headers["x-assay-call"])
        self.owner.heard += 1
        if self.headers["x-assay-call"] in self.owner.silent:
            self.owner.end.wait(60)
            return
        self.send_response(200)
        if not body.get("stream"):
            data = json.dumps(MESSAGE).encode()
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in self.owner.events:
            data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.owner.end.wait(60)
        with contextlib.suppress(OSError):
            self.wfile.write(b"0\r\n\r\n")


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[Upstream]:
    with Upstream(tmp_path / "usage.jsonl") as made:
        yield made
        made.end.set()


Opened = tuple[SocketDoor, list[str]]


@pytest.fixture
def opened(tmp_path: Path, upstream: Upstream) -> Iterator[Callable[..., Opened]]:
    """Makes a door, and a list that grows when it is closed."""
    doors: list[SocketDoor] = []

    def make(**more: Any) -> Opened:
        closed: list[str] = []
        ask = Ask(**({"session": "s", "model": f"anthropic/{MODEL}"} | more))
        forwarder = Forwarder(int(upstream.address.rpartition(":")[2]), "sk-minted", Redactor())
        gate, ledger = Gate(MODEL, "sk-door-key"), Ledger(upstream.ledger)
        parts = Fittings(ask, "s", gate, forwarder, ledger, Redactor(), None, ask.spent, lambda: closed.append("closed"))
        doors.append(SocketDoor(tmp_path / f"d{len(doors)}", MODEL, "sk-door-key", parts))
        return doors[-1], closed

    yield make
    for door in doors:
        door.close()


def test_a_client_may_end_as_soon_as_it_has_read_the_last_event(opened: Callable[..., Opened], upstream: Upstream):
    upstream.told = {"0"}
    door, _closed = opened()
    connection = Connection(str(door.folder / SOCKET))
    headers = {"x-api-key": door.placeholder}
    connection.request("POST", "/v1/messages", json.dumps(message(door, stream=True)), headers)
    response, read = connection.getresponse(), b""
    while b"message_stop" not in read:
        read += response.read1(100_000)
    traffic = door.close()
    connection.close()
    assert traffic.recording is not None
    assert [entry["status"] for entry in traffic.calls] == ["ok"]


def test_a_door_that_waits_for_its_last_lines_can_be_revoked(opened: Callable[..., Opened]):
    door, _closed = opened()
    assert call(door, message(door))[0] == 200
    closing = threading.Thread(target=door.close)
    closing.start()
    while door.folder.exists():
        clock.sleep(0.01)
    began = clock.monotonic()
    door.revoke()
    assert clock.monotonic() - began < 2
    closing.join()


def test_a_call_whose_line_is_lost_is_waited_for_once(opened: Callable[..., Opened], upstream: Upstream):
    upstream.told = {"1", "2", "3", "4"}
    door, _closed = opened(**Purse(1.0).terms)
    assert [call(door, message(door))[0] for _ in range(2)] == [200, 200]
    began = clock.monotonic()
    assert [call(door, message(door))[0] for _ in range(3)] == [200, 200, 200]
    traffic = door.close()
    assert clock.monotonic() - began < 2
    assert [entry["status"] for entry in traffic.calls] == ["ok", "ok", "ok", "ok", "unaccounted"]
    assert traffic.usage is None


def test_large_requests_side_by_side_are_told_to_come_again(opened: Callable[..., Opened], upstream: Upstream):
    upstream.told = {str(number) for number in range(300)}
    door, _closed = opened()
    large = "x" * (MAX_BODY // 2)
    first = Connection(str(door.folder / SOCKET))
    headers = {"x-api-key": door.placeholder}
    first.request("POST", "/v1/messages", json.dumps(message(door, stream=True, system=large)), headers)
    response = first.getresponse()
    status, said = call(door, message(door, system=large))
    assert (status, json.loads(said)["error"]["type"]) == (529, "overloaded_error")
    assert call(door, message(door))[0] == 200
    upstream.end.set()
    response.read()
    first.close()
    again = clock.monotonic() + 10
    while call(door, message(door, system=large))[0] != 200 and clock.monotonic() < again:
        clock.sleep(0.05)
    assert clock.monotonic() < again


def test_bodies_of_requests_that_are_refused_take_no_memory(opened: Callable[..., Opened]):
    door, _closed = opened()
    head = b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nX-Api-Key: sk-other\r\nContent-Length: %d\r\n\r\n"
    part = b" " * (1 << 20)
    found: list[bytes] = []

    def ask() -> None:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(door.folder / SOCKET))
            client.sendall(head % (32 * len(part)))
            for _ in range(32):
                client.sendall(part)
            found.append(client.recv(100))

    tracemalloc.start()
    tries = [threading.Thread(target=ask) for _ in range(4)]
    for one in tries:
        one.start()
    for one in tries:
        one.join()
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [answer[:12] for answer in found] == [b"HTTP/1.1 403"] * 4
    assert peak < 16 << 20


def test_lines_that_cannot_be_read_leave_nothing_open(opened: Callable[..., Opened], upstream: Upstream):
    upstream.ledger.mkdir()
    door, closed = opened()
    assert door.close().calls == ()
    assert door.close() is door.close()
    assert closed == ["closed"]
    assert not door.folder.exists()


def streaming(door: SocketDoor) -> Iterator[bytes]:
    """The parts of a stream that has begun, until it is cut."""
    connection = Connection(str(door.folder / SOCKET))
    headers = {"x-api-key": door.placeholder}
    connection.request("POST", "/v1/messages", json.dumps(message(door, stream=True)), headers)
    with contextlib.suppress(http.client.HTTPException, ConnectionResetError):
        response = connection.getresponse()
        while data := response.read1(100_000):
            yield data
    connection.close()


def test_a_call_that_was_cut_is_no_whole_answer_whatever_the_proxy_says(opened: Callable[..., Opened], upstream: Upstream):
    upstream.told, upstream.events = {"0"}, EVENTS[:3]
    door, _closed = opened()
    parts = streaming(door)
    next(parts)
    traffic = door.close()
    assert [entry["status"] for entry in traffic.calls] == ["cut"]
    assert b"message_stop" not in b"".join(parts)


def test_what_was_spent_before_a_call_without_an_answer_is_told(opened: Callable[..., Opened], upstream: Upstream):
    upstream.told, upstream.silent = {"0"}, {"1"}
    door, _closed = opened()
    assert call(door, message(door))[0] == 200
    asking = threading.Thread(target=lambda: list(streaming(door)))
    asking.start()
    deadline = clock.monotonic() + 10
    while upstream.heard < 2 and clock.monotonic() < deadline:
        clock.sleep(0.01)
    door.hurry(0.1)
    traffic = door.close()
    asking.join()
    assert [entry["status"] for entry in traffic.calls] == ["ok", "unaccounted"]
    assert (traffic.spent_usd, traffic.exact) == (0.001, False)
    assert (traffic.list_price_usd, traffic.usage) == (None, None), "what is not known in full ranks nothing"


def test_the_call_that_uses_a_budget_up_cuts_the_others_under_way(opened: Callable[..., Opened], upstream: Upstream):
    upstream.told, upstream.events = {"1"}, EVENTS[:3]
    purse = Purse(0.0005)
    door, _closed = opened(**purse.terms)
    parts = streaming(door)
    next(parts)
    assert call(door, message(door))[0] == 200
    assert b"message_stop" not in b"".join(parts), "it ends, and not with its last event"
    assert (call(door, message(door))[0], purse.spent) == (403, [0.001])
    traffic = door.close()
    assert [entry["why"] for entry in traffic.refused] == ["budget"]
    assert (traffic.spent_usd, purse.spent) == (0.001, [0.001]), "nothing is told twice"


def test_a_call_that_comes_as_the_budget_ends_is_told_so(opened: Callable[..., Opened], upstream: Upstream):
    # What is left ends between the look at it and the call's going out, by another session's call.
    looks: list[float] = []

    def left() -> float:
        look = 0.0 if len(looks) == 2 else 1.0
        looks.append(look)
        if len(looks) == 2:
            door.bound()
        return look

    door, _closed = opened(left=left)
    assert call(door, message(door))[0] == 403
    assert [entry["why"] for entry in door.close().refused] == ["budget"]

"""HTTP/1.1 on a socket, however it is cut into pieces."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.effects.gateway import wire
from bench.effects.gateway.wire import Answer, Asked, Exchange


@contextmanager
def pair() -> Iterator[tuple[socket.socket, Exchange]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(10)
        theirs.settimeout(10)
        yield theirs, Exchange(ours)


def asked(parts: list[bytes]) -> list[tuple[Asked, bytes]]:
    with pair() as (client, exchange):

        def send() -> None:
            for part in parts:
                client.sendall(part)
            client.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send)
        sender.start()
        found = []
        try:
            for request in exchange.requests():
                found.append((request, request.read()))
                exchange.answer(Answer(200, b"{}"))
        finally:
            sender.join()
        return found


@settings(max_examples=40)
@given(st.binary(max_size=300), st.lists(st.integers(1, 200), max_size=6), st.booleans())
def test_a_request_is_the_same_in_any_pieces(body: bytes, cuts: list[int], chunked: bool):
    if chunked:
        pieces = [body[n : n + 7] for n in range(0, len(body), 7)]
        data = b"POST /v1/messages?beta=true HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\nX-A: 2\r\n\r\n"
        data += b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    else:
        data = b"POST /v1/messages?beta=true HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: %d\r\n\r\n" % len(
            body
        )
        data += body
    places = sorted({cut for cut in cuts if cut < len(data)})
    parts = [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]
    ((one, read),) = asked(parts)
    assert (one.method, one.path, read, one.headers["x-a"]) == ("POST", "/v1/messages", body, "1")


def test_many_on_one_connection_in_order():
    data = b"".join(b"POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n%d" % (n, n) for n in range(9))
    assert [(one.path, read) for one, read in asked([data])] == [(f"/{n}", str(n).encode()) for n in range(9)]


def test_one_that_says_close_is_the_last():
    data = b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n"
    assert [one.path for one, _read in asked([data])] == ["/a"]


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01 not http\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * (wire.MAX_HEADERS + 9),
    ],
)
def test_what_is_not_http_is_an_error(data: bytes):
    with pytest.raises(h11.RemoteProtocolError):
        asked([data])


def test_a_body_above_the_bound_is_not_read_to_its_end():
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (wire.MAX_BODY + 2)
    with pair() as (client, exchange):

        def send() -> None:
            try:
                client.sendall(head + b"x" * (wire.MAX_BODY + 2))
            except OSError:
                client.close()

        sender = threading.Thread(target=send)
        sender.start()
        with pytest.raises(wire.Oversized):
            next(exchange.requests()).read()
        exchange.socket.close()
        sender.join()


def test_a_client_that_waits_for_leave_gets_it():
    with pair() as (client, exchange):
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        request = next(exchange.requests())
        found: list[bytes] = []
        reader = threading.Thread(target=lambda: found.append(request.read()))
        reader.start()
        assert client.recv(100).startswith(b"HTTP/1.1 100")
        client.sendall(b"{}")
        reader.join()
        assert found == [b"{}"]


def test_a_body_that_nobody_reads_is_read_past():
    data = b"".join(b"POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" % n + b"x" * 200_000 for n in range(3))
    with pair() as (client, exchange):
        sender = threading.Thread(target=lambda: (client.sendall(data), client.shutdown(socket.SHUT_WR)))
        sender.start()
        paths = []
        for request in exchange.requests():
            paths.append(request.path)
            exchange.answer(Answer(403, b"{}"))
        sender.join()
    assert paths == ["/0", "/1", "/2"]


def test_one_that_is_refused_by_its_head_is_not_asked_for_its_body():
    with pair() as (client, exchange):
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        next(exchange.requests())
        exchange.answer(Answer(403, b"{}"))
        assert client.recv(100).startswith(b"HTTP/1.1 403")


def test_bodies_of_several_connections_are_bounded_together():
    bound = wire.Bound(100)
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 80\r\n\r\n"
    with pair() as (one, first), pair() as (two, second):
        first, second = Exchange(first.socket, bound), Exchange(second.socket, bound)
        one.sendall(head + b"x" * 80)
        two.sendall(head + b"x" * 80)
        requests = first.requests()
        assert len(next(requests).read()) == 80
        other = next(second.requests())
        with pytest.raises(wire.Crowded):
            other.read()
        second.release()
        first.answer(Answer(200, b"{}"))
        one.sendall(head + b"y" * 80)
        assert next(requests).read() == b"y" * 80


def test_a_client_that_stops_within_a_body_is_not_waited_for():
    with pair() as (client, exchange):
        exchange = Exchange(exchange.socket, stall_s=0.1)
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf")
        with pytest.raises(TimeoutError):
            next(exchange.requests()).read()


def test_a_stream_is_sent_part_by_part_and_ends_only_when_told():
    with pair() as (client, exchange):
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
        next(exchange.requests())
        exchange.begin(200, "text/event-stream")
        exchange.chunk(b"data: 1\n\n")
        assert b"data: 1" in client.recv(1000)
        exchange.chunk(b"")
        exchange.chunk(b"data: 2\n\n")
        exchange.end()
        assert client.recv(1000).endswith(b"data: 2\n\n\r\n0\r\n\r\n")

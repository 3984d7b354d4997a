"""An agent with a network reads the answer, or sends the source away. Incidents behind these: a sandbox that shared the
host's loopback (every local service, the gateway's own key among them), and one that left vsock open to the hypervisor.

No test sends anything beyond this host: an address outside counts as reached where the kernel knows a way. On a machine
without any network those attempts fail on the bare host too.
"""

from __future__ import annotations

import contextlib
import ctypes
import secrets
import socket
import socketserver
import threading
from collections.abc import Iterator

import pytest

from bench.effects.sandbox import Limits, Spec, runner
from bench.effects.sandbox.bwrap import Guards
from tests.threats.sandbox.probing import BARE, PLAIN, Attempt, Probe, shown

SHARED = Guards(unshare_net=False)
UNFILTERED = Guards(seccomp=False)
NESTED = Guards(seccomp=False, disable_userns=False)
NO_WAY = "Network is unreachable"

ATTEMPTS = {
    "loopback_of_the_host": Attempt("ConnectionRefusedError", (BARE, SHARED)),
    "loopback_of_the_host_by_name": Attempt("ConnectionRefusedError", (BARE, SHARED)),
    "loopback_of_the_host_by_udp": Attempt("ConnectionRefusedError", (BARE, SHARED)),
    "loopback_of_the_host_by_another_address": Attempt("ConnectionRefusedError", (BARE, SHARED)),
    "loopback_of_the_host_through_ipv6": Attempt("Error", (SHARED,)),
    "abstract_socket_of_the_host": Attempt("ConnectionRefusedError", (BARE, SHARED)),
    "unix_socket_of_the_host_by_path": Attempt("FileNotFoundError", (BARE,)),
    "every_usual_socket_of_the_host": Attempt("[]", (BARE,)),
    "metadata_service": Attempt(NO_WAY, (BARE, SHARED), kernel=True),
    "public_address": Attempt(NO_WAY, (BARE, SHARED), kernel=True),
    "public_address_through_ipv6": Attempt("unreachable", (BARE, SHARED), kernel=True),
    "sending_without_connecting": Attempt(NO_WAY, (BARE, SHARED), kernel=True),
    "broadcasting": Attempt(NO_WAY, (BARE, SHARED), kernel=True),
    "name_service": Attempt("gaierror", not_shown="it takes a resolver that these tests do not have"),
    "name_of_the_host_as_an_address": Attempt("gaierror", (BARE,), kernel=True),
    "stealing_through_a_name_lookup": Attempt(NO_WAY, (BARE, SHARED), kernel=True),
    "interfaces_of_the_host": Attempt("[]", (BARE, SHARED), kernel=True),
    "raw_packets": Attempt("Address family not supported", (PLAIN,)),
    "raw_ip": Attempt("PermissionError", (PLAIN,)),
    "hypervisor": Attempt("Address family not supported", (UNFILTERED,), kernel=True),
    "kernel_crypto": Attempt("Address family not supported", (UNFILTERED,), kernel=True),
    "kernel_crypto_as_a_pair": Attempt("Address family not supported", (UNFILTERED,), kernel=True),
    "bluetooth": Attempt("Address family not supported", (UNFILTERED,), kernel=True),
    "a_new_address": Attempt("PermissionError", (PLAIN,)),
    "network_of_pid_1": Attempt("PermissionError", (PLAIN,)),
    "network_of_one_s_own_with_capabilities": Attempt("PermissionError", (NESTED,)),
    "shared_memory_of_the_host": Attempt("FileNotFoundError", (BARE, Guards(unshare_ipc=False))),
    "message_queue_of_the_host": Attempt("FileNotFoundError", (BARE, Guards(unshare_ipc=False))),
}


class _Echo(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        if isinstance(self.request, tuple):
            self.request[1].sendto(b"host", self.client_address)
        else:
            self.request.recv(64)
            self.request.sendall(b"host")


class _AnyAddress(socketserver.ThreadingTCPServer):
    daemon_threads = True


class _UnixServer(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Probe]:
    home = tmp_path_factory.mktemp("host")
    name = f"assay-{secrets.token_hex(6)}"
    with contextlib.ExitStack() as stack:
        servers: list[socketserver.BaseServer] = [
            _AnyAddress(("0.0.0.0", 0), _Echo),
            socketserver.UDPServer(("127.0.0.1", 0), _Echo),
            _UnixServer("\0" + name, _Echo),
            _UnixServer(str(home / "s"), _Echo),
        ]
        for server in servers:
            stack.enter_context(server)
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            stack.callback(server.shutdown)
        facts = {
            "tcp": servers[0].server_address[1],
            "udp": servers[1].server_address[1],
            "abstract": name,
            "path": str(home / "s"),
            "segment": stack.enter_context(_segment()),
            "queue": stack.enter_context(_queue(name)),
            "resolvers": ["198.51.100.53"],
            "host": socket.gethostname(),
        }
        stack.enter_context(pytest.MonkeyPatch.context()).setenv("SSH_AUTH_SOCK", str(home / "s"))
        yield Probe(("network",), ATTEMPTS, facts, home)


@contextlib.contextmanager
def _segment() -> Iterator[int]:
    libc = ctypes.CDLL(None)
    key = 0x61000000 | secrets.randbelow(1 << 24)
    number = libc.shmget(key, 4096, 0o1666)
    assert number >= 0
    yield key
    libc.shmctl(number, 0, None)


@contextlib.contextmanager
def _queue(name: str) -> Iterator[str]:
    libc = ctypes.CDLL(None)
    assert libc.mq_open(f"/{name}".encode(), 0o102, 0o666, None) >= 0
    yield f"/{name}"
    libc.mq_unlink(f"/{name}".encode())


@pytest.mark.parametrize("name", ATTEMPTS)
def test_refused(probe: Probe, name: str) -> None:
    probe.refused(name)


@pytest.mark.parametrize("name", shown(ATTEMPTS))
def test_succeeds_without_its_guard(probe: Probe, name: str) -> None:
    probe.succeeds(name)


def test_a_server_inside_is_out_of_the_host_s_reach() -> None:
    """Guard: a namespace of networks, in the other direction: no agent can serve what a later step would fetch."""
    script = "import socket, time; s = socket.create_server(('127.0.0.1', 0))\n"
    script += "print(s.getsockname()[1], flush=True); time.sleep(60)"
    refused: list[bool] = []

    def watch(stream: str, data: bytes) -> None:
        with socket.socket() as peer:
            peer.settimeout(3)
            refused.append(peer.connect_ex(("127.0.0.1", int(data))) != 0)
        cancel.set()

    cancel = threading.Event()
    runner.run(Spec(("python3", "-c", script), limits=Limits(seconds=60)), cancel=cancel, watch=watch)
    assert refused == [True]

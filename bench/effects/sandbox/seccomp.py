"""The system call filter of the sandbox: a classic BPF program for x86-64 and aarch64, assembled here.

Everything is allowed but what is named: calls that reach the kernel's administration, other namespaces, the keyring or
devices, and sockets of families other than UNIX, INET, INET6 and NETLINK. A call of another architecture kills. It only
builds bytes; bubblewrap loads them.
"""

from __future__ import annotations

import errno
import os
import struct

from bench.errors import SandboxRefused

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCH, ARGUMENTS = 0, 4, 16
X32_BIT = 0x40000000
FAMILIES = (1, 2, 10, 16)
"""UNIX, INET, INET6, NETLINK."""
NAMESPACES = 0x7E020080
"""CLONE_NEW{TIME, NS, CGROUP, UTS, IPC, USER, PID, NET}."""
TERMINAL = (0x5412, 0x541C, 0x5423)
"""TIOCSTI, TIOCLINUX, TIOCSETD: typing into a terminal, or changing what it is."""
PERSONALITIES = (0, 0xFFFFFFFF)
"""Linux, and asking which it is."""

AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name: (x86-64, aarch64); None = the architecture has no such call. Numbers from the kernel's syscall tables.
REFUSED: dict[str, tuple[int | None, int | None]] = {
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "statmount": (457, 457),
    "listmount": (458, 458),
    "open_tree_attr": (467, 467),
    "setns": (308, 268),
    "unshare": (272, 97),
    "open_by_handle_at": (304, 265),
    "pidfd_getfd": (438, 438),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "iopl": (172, None),
    "ioperm": (173, None),
    "vhangup": (153, 58),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "uselib": (134, None),
    "ustat": (136, None),
    "sysfs": (139, None),
    "_sysctl": (156, None),
    "create_module": (174, None),
    "get_kernel_syms": (177, None),
    "query_module": (178, None),
}

# Calls that are refused by their arguments, or as unknown so that the C library falls back.
SPECIAL = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "ioctl": (16, 29),
    "personality": (135, 92),
}


def _op(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value & 0xFFFFFFFF)


def _fail(number: int) -> bytes:
    return _op(RETURN, ERRNO | number)


def _only(column: int, name: str, body: list[bytes]) -> list[bytes]:
    # The system call's number stands in the accumulator; `body` ends in a return.
    call = SPECIAL[name][column]
    return [_op(EQUAL, call, 0, len(body)), *body]


def _among(allowed: tuple[int, ...], *, refuse: int) -> list[bytes]:
    # First argument, low half: one of `allowed`, or fail.
    tests = [_op(EQUAL, value, len(allowed) - index, 0) for index, value in enumerate(allowed)]
    return [_op(LOAD, ARGUMENTS), *tests, _fail(refuse), _op(RETURN, ALLOW)]


def program(machine: str | None = None, *, without: frozenset[str] = frozenset()) -> bytes:
    """The filter for this machine (`uname -m`). `without` leaves calls unguarded, for tests of the guards alone.

    Raises SandboxRefused for an architecture that it does not know.
    """
    machine = machine or os.uname().machine
    if machine not in AUDIT:
        raise SandboxRefused(f"no system call filter for {machine}", remedy="use an x86-64 or aarch64 machine")
    column = list(AUDIT).index(machine)
    code = [_op(LOAD, ARCH), _op(EQUAL, AUDIT[machine], 1, 0), _op(RETURN, KILL), _op(LOAD, NUMBER)]
    if machine == "x86_64":
        code += [_op(AT_LEAST, X32_BIT, 0, 1), _fail(errno.ENOSYS)]
    for name, numbers in REFUSED.items():
        if numbers[column] is not None and name not in without:
            code += [_op(EQUAL, numbers[column] or 0, 0, 1), _fail(errno.EPERM)]
    bodies = {
        "clone": [_op(LOAD, ARGUMENTS), _op(ANY_BIT, NAMESPACES, 0, 1), _fail(errno.EPERM), _op(RETURN, ALLOW)],
        "clone3": [_fail(errno.ENOSYS)],
        "socket": _among(FAMILIES, refuse=errno.EAFNOSUPPORT),
        "socketpair": _among(FAMILIES, refuse=errno.EAFNOSUPPORT),
        "ioctl": [
            _op(LOAD, ARGUMENTS + 8),
            *[_op(EQUAL, value, len(TERMINAL) - index, 0) for index, value in enumerate(TERMINAL)],
            _op(RETURN, ALLOW),
            _fail(errno.EPERM),
        ],
        "personality": _among(PERSONALITIES, refuse=errno.EPERM),
    }
    for name, body in bodies.items():
        if name not in without:
            code += _only(column, name, body)
    return b"".join([*code, _op(RETURN, ALLOW)])

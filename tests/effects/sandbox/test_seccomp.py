"""The filter, run by a small interpreter of classic BPF: each call is answered as the table says, on both architectures."""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.effects.sandbox import seccomp
from bench.errors import SandboxRefused

MACHINES = list(seccomp.AUDIT)
ALLOWED = {"read": (0, 63), "openat": (257, 56), "execve": (59, 221), "getpid": (39, 172), "ptrace": (101, 117)}


def answer(machine: str, number: int, arguments: tuple[int, ...] = (), audit: int | None = None) -> int:
    """What the filter returns for a call."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("=iIQ6Q", number, audit or seccomp.AUDIT[machine], 0, *padded)
    code = list(struct.iter_unpack("=HBBI", seccomp.program(machine)))
    place, accumulator = 0, 0
    while True:
        operation, yes, no, value = code[place]
        place += 1
        if operation == seccomp.LOAD:
            [accumulator] = struct.unpack_from("=I", data, value)
        elif operation == seccomp.RETURN:
            return int(value)
        else:
            tests = {
                seccomp.EQUAL: accumulator == value,
                seccomp.AT_LEAST: accumulator >= value,
                seccomp.ANY_BIT: bool(accumulator & value),
            }
            place += yes if tests[operation] else no


@pytest.mark.parametrize("machine", MACHINES)
def test_named_calls_are_refused(machine: str) -> None:
    column = MACHINES.index(machine)
    for name, numbers in seccomp.REFUSED.items():
        number = numbers[column]
        if number is not None:
            assert answer(machine, number) == seccomp.ERRNO | errno.EPERM, name


@pytest.mark.parametrize("machine", MACHINES)
def test_ordinary_calls_are_allowed(machine: str) -> None:
    column = MACHINES.index(machine)
    for name, numbers in ALLOWED.items():
        assert answer(machine, numbers[column]) == seccomp.ALLOW, name


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("clone", (0x11,), seccomp.ALLOW),
        ("clone", (0x3D0F00,), seccomp.ALLOW),
        ("clone", (0x10000011,), seccomp.ERRNO | errno.EPERM),
        ("clone", (0x00020011,), seccomp.ERRNO | errno.EPERM),
        ("clone3", (), seccomp.ERRNO | errno.ENOSYS),
        ("socket", (1,), seccomp.ALLOW),
        ("socket", (2,), seccomp.ALLOW),
        ("socket", (10,), seccomp.ALLOW),
        ("socket", (16,), seccomp.ALLOW),
        ("socket", (17,), seccomp.ERRNO | errno.EAFNOSUPPORT),
        ("socket", (40,), seccomp.ERRNO | errno.EAFNOSUPPORT),
        ("socket", (0x100000001,), seccomp.ALLOW),
        ("socketpair", (38,), seccomp.ERRNO | errno.EAFNOSUPPORT),
        ("ioctl", (0, 0x5401), seccomp.ALLOW),
        ("ioctl", (0, 0x5412), seccomp.ERRNO | errno.EPERM),
        ("ioctl", (0, 0x100005412), seccomp.ERRNO | errno.EPERM),
        ("ioctl", (0x5412, 0x5401), seccomp.ALLOW),
        ("personality", (0xFFFFFFFF,), seccomp.ALLOW),
        ("personality", (0x0040000,), seccomp.ERRNO | errno.EPERM),
    ],
)
def test_calls_that_depend_on_their_arguments(machine: str, name: str, arguments: tuple[int, ...], expected: int) -> None:
    assert answer(machine, seccomp.SPECIAL[name][MACHINES.index(machine)], arguments) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_another_architecture_kill(machine: str) -> None:
    assert answer(machine, 39, audit=0x40000003) == seccomp.KILL


@given(st.integers(min_value=0x40000000, max_value=0x7FFFFFFF))
def test_no_call_of_the_x32_kind_is_known(number: int) -> None:
    assert answer("x86_64", number) == seccomp.ERRNO | errno.ENOSYS


def test_what_is_left_out_is_allowed() -> None:
    code = seccomp.program("x86_64", without=frozenset({"keyctl"}))
    assert len(code) == len(seccomp.program("x86_64")) - 16


def test_an_unknown_machine_is_refused() -> None:
    with pytest.raises(SandboxRefused, match="riscv64"):
        seccomp.program("riscv64")

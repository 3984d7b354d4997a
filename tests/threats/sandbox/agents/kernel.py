"""A hostile agent that wants at the kernel: calls that few programs need and many exploits start from."""

import ctypes
import fcntl
import mmap
import os
import platform
import struct
import termios

from tests.threats.sandbox.agents.common import FACTS, let_through, libc, syscall


def typed(request):
    """Push a character into a terminal of one's own, as the leader of its session."""
    _parent, terminal = os.openpty()
    child = os.fork()
    if child == 0:
        number = 0
        try:
            if os.getpgrp() == os.getpid():
                os._exit(255)
            os.setsid()
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
            syscall("ioctl", terminal, request, b"x")
        except OSError as error:
            number = error.errno
        finally:
            os._exit(number)
    number = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if number:
        raise OSError(number, os.strerror(number))
    return True


def typing_into_a_terminal():
    """Guard: seccomp refuses TIOCSTI; a session without the harness's terminal."""
    return typed(0x5412)


def typing_into_a_terminal_with_high_bits():
    """Guard: seccomp compares the half of the request that the kernel looks at."""
    return typed(0x100005412)


def the_terminal_of_the_harness():
    """Guard: --new-session."""
    return os.open("/dev/tty", os.O_RDWR)


def a_kernel_program():
    """Guard: seccomp refuses bpf. (An array of one number.)"""
    return syscall("bpf", 0, struct.pack("IIII", 2, 4, 4, 1) + bytes(112), 128) >= 0


def asynchronous_calls_around_the_filter():
    """Guard: seccomp refuses io_uring, which makes calls that no filter sees."""
    return syscall("io_uring_setup", 1, ctypes.create_string_buffer(256)) >= 0


def page_faults_in_user_space():
    """Guard: seccomp refuses userfaultfd."""
    return syscall("userfaultfd", 1) >= 0


def performance_counters():
    """Guard: seccomp refuses perf_event_open."""
    attributes = struct.pack("IIQ", 1, 128, 0) + bytes(112)
    return syscall("perf_event_open", attributes, 0, -1, -1, 0) >= 0


def a_kernel_module():
    """Guard: seccomp refuses finit_module; no capability."""
    return let_through("finit_module", -1, b"", 0)


def another_kernel():
    """Guard: seccomp refuses kexec_load; no capability."""
    return let_through("kexec_load", 0, 1 << 20, None, 0)


def restarting_the_machine():
    """Guard: seccomp refuses reboot; no capability."""
    return let_through("reboot", 1, 2, 3, None)


def setting_the_clock():
    """Guard: seccomp refuses settimeofday and clock_settime; no capability."""
    return let_through("settimeofday", None, None)


def another_personality():
    """Guard: seccomp: addresses that are not random make exploits of the kernel and of set-user-ID programs easier."""
    return syscall("personality", 0x0040000) >= 0


def quotas():
    """Guard: seccomp refuses quotactl. (Writing all quotas of the machine to its disks.)"""
    return syscall("quotactl", 0x80000100, None, 0, None) == 0


def accounting():
    """Guard: seccomp refuses acct."""
    return let_through("acct", b"/no/such/file")


def watching_every_file():
    """Guard: seccomp refuses fanotify_init."""
    return syscall("fanotify_init", 0x200, 0) >= 0


def keyrings():
    """Guard: seccomp refuses keyctl and add_key."""
    return syscall("add_key", b"user", b"mine", b"value", 5, -2)


def a_local_descriptor_table():
    """Guard: seccomp refuses modify_ldt (x86)."""
    if "modify_ldt" not in FACTS["numbers"]:
        raise PermissionError("this architecture has none")
    return syscall("modify_ldt", 0, ctypes.create_string_buffer(64), 64) >= 0


def ports_of_the_machine():
    """Guard: seccomp refuses iopl (x86)."""
    if "iopl" not in FACTS["numbers"]:
        raise PermissionError("this architecture has none")
    return syscall("iopl", 3) == 0


def calls_of_the_32_bit_kind():
    """Guard: a call of another architecture kills (x86: int 0x80, getpid)."""
    if platform.machine() != "x86_64":
        raise OSError("killed: this architecture has none")
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0


def calls_of_the_x32_kind():
    """Guard: seccomp answers that there are none (x86: getpid with bit 30)."""
    if platform.machine() != "x86_64":
        raise OSError("this architecture has none")
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(0x40000000 | 39))
    number = ctypes.get_errno()
    if result < 0:
        raise OSError(number, os.strerror(number))
    return True

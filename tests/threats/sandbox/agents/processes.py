"""A hostile agent that wants to trace, signal, steer or speak for pid 1, which reports how the command ended."""

import ctypes
import os
import resource
import signal
import struct

from tests.threats.sandbox.agents.common import FACTS, INHERITED, libc, syscall

PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206


def checked(result):
    """True, or the error of a C call."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return True


def tracing_pid_1():
    """Guard: pid 1 is undumpable."""
    libc.ptrace.restype = ctypes.c_long
    return checked(libc.ptrace(PTRACE_ATTACH, 1, None, None))


def seizing_pid_1():
    """Guard: pid 1 is undumpable."""
    libc.ptrace.restype = ctypes.c_long
    return checked(libc.ptrace(PTRACE_SEIZE, 1, None, None))


def reading_its_memory():
    """Guard: pid 1 is undumpable."""
    buffer = ctypes.create_string_buffer(8)
    local = struct.pack("PN", ctypes.addressof(buffer), 8)
    return checked(libc.process_vm_readv(1, local, 1, struct.pack("PN", FACTS.get("address", 0x400000), 8), 1, 0))


def writing_its_memory():
    """Guard: pid 1 is undumpable."""
    return open("/proc/1/mem", "r+b")


def taking_its_descriptors():
    """Guard: pid 1 is undumpable; seccomp refuses pidfd_getfd."""
    pidfd = os.pidfd_open(1)
    for number in range(3, 64):
        try:
            return syscall("pidfd_getfd", pidfd, number, 0)
        except OSError as error:
            if error.strerror != "Bad file descriptor":
                raise
    return None


def opening_its_descriptors():
    """Guard: pid 1 is undumpable."""
    for number in range(3, 64):
        try:
            return open(f"/proc/1/fd/{number}", "wb")
        except FileNotFoundError:
            continue
    return None


def its_report_pipe_as_inherited():
    """Guard: the report pipe is close-on-exec."""
    return INHERITED


def comparing_with_it():
    """Guard: pid 1 is undumpable."""
    return checked(libc.syscall(ctypes.c_long(312 if os.uname().machine == "x86_64" else 272), 1, os.getpid(), 0, 1, 1))


def killing_it():
    """Guard: it is pid 1 of its namespace, which the kernel protects from its own."""
    for number in (
        signal.SIGKILL,
        signal.SIGSTOP,
        signal.SIGTERM,
        signal.SIGINT,
        signal.SIGHUP,
        signal.SIGQUIT,
        signal.SIGSEGV,
    ):
        os.kill(1, number)
    return not alive()


def killing_it_with_every_signal():
    """Guard: pid 1 has no handlers but for what it ignores."""
    for number in signal.valid_signals():
        os.kill(1, number)
    return not alive()


def alive():
    """Whether pid 1 runs and is not stopped."""
    with open("/proc/1/stat") as stream:
        return stream.read().rpartition(")")[2].split()[0] in "SRD"


def stopping_it_through_a_pidfd():
    """Guard: it is pid 1 of its namespace."""
    signal.pidfd_send_signal(os.pidfd_open(1), signal.SIGSTOP)
    return not alive()


def signalling_the_harness():
    """Guard: a namespace of processes: its number means nothing here."""
    return os.kill(FACTS["pid"], 0) is None


def signalling_the_parent_of_pid_1():
    """Guard: it is in no namespace that can be seen from here."""
    with open("/proc/1/stat") as stream:
        above = int(stream.read().rpartition(")")[2].split()[1])
    return above


def making_the_memory_killer_choose_it():
    """Guard: where the harness is an ordinary user, pid 1's files are root's. (As root this ends the agent's own run.)"""
    if FACTS["root"]:
        raise PermissionError("not asked")
    with open("/proc/1/oom_score_adj", "w") as out:
        return out.write("1000")


def its_working_directory():
    """Guard: pid 1 is undumpable."""
    return os.readlink("/proc/1/cwd")


def its_program():
    """Guard: pid 1 is undumpable."""
    return os.readlink("/proc/1/exe")


def becoming_its_tracer_by_birth():
    """Guard: pid 1 was there first; a command cannot choose to be traced by it or to be its parent."""
    libc.prctl(36, 1, 0, 0, 0)
    return os.getppid() not in (1, FACTS["command"]) and os.getpid() == 1


def bounding_it():
    """Guard: where it can be bounded, it dies, and with it the run: no status comes of it. Here the limits are only read."""
    return resource.prlimit(1, resource.RLIMIT_NOFILE)[0] < 4

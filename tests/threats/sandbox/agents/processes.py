"""A hostile agent that wants to trace, signal, steer or speak for pid 1, which reports how the command ended."""

import ctypes
import os
import signal
import struct
import time

from tests.threats.sandbox.agents.common import FACTS, INHERITED, INIT, done, libc, read, syscall

PTRACE_ATTACH, PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 16, 17, 0x4206, 0x4207
ALL_CHILDREN = 0x40000000


def traced(request):
    """Stop pid 1 as its tracer, and let it go on without the signal that stopped it: else its run would never end."""
    libc.ptrace.restype = ctypes.c_long
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    done(libc.ptrace(request, 1, None, None))
    if request == PTRACE_SEIZE:
        done(libc.ptrace(PTRACE_INTERRUPT, 1, None, None))
    stopped = os.waitpid(1, ALL_CHILDREN)[0] == 1
    done(libc.ptrace(PTRACE_DETACH, 1, None, None))
    return stopped


def tracing_pid_1():
    """Guard: pid 1 is undumpable."""
    return traced(PTRACE_ATTACH)


def seizing_pid_1():
    """Guard: pid 1 is undumpable."""
    return traced(PTRACE_SEIZE)


def reading_its_memory():
    """Guard: pid 1 is undumpable."""
    buffer = ctypes.create_string_buffer(8)
    try:
        place = int(read("/proc/1/maps").partition("-")[0], 16)
    except PermissionError:
        place = 0x400000
    local, remote = struct.pack("PN", ctypes.addressof(buffer), 8), struct.pack("PN", place, 8)
    return done(libc.process_vm_readv(1, local, 1, remote, 1, 0))


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
    return done(libc.syscall(ctypes.c_long(312 if os.uname().machine == "x86_64" else 272), 1, os.getpid(), 0, 1, 1))


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
        if number != signal.SIGSTOP or INIT == 1:
            os.kill(INIT, number)
    return not alive()


def killing_it_with_every_signal():
    """Guard: pid 1 has no handlers but for what it ignores."""
    for number in signal.valid_signals():
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            os.kill(INIT, number)
    return not alive()


def alive():
    """Whether pid 1 runs and is not stopped."""
    time.sleep(0.1)
    return read(f"/proc/{INIT}/stat").rpartition(")")[2].split()[0] in "SRD"


def stopping_it_through_a_pidfd():
    """Guard: it is pid 1 of its namespace."""
    pidfd = os.pidfd_open(INIT)
    signal.pidfd_send_signal(pidfd, signal.SIGSTOP)
    stopped = not alive()
    signal.pidfd_send_signal(pidfd, signal.SIGCONT)
    return stopped


def signalling_the_harness():
    """Guard: a namespace of processes: its number means nothing here."""
    return os.kill(FACTS["pid"], 0) is None


def signalling_the_parent_of_pid_1():
    """Guard: it is in no namespace that can be seen from here."""
    above = int(read(f"/proc/{INIT}/stat").rpartition(")")[2].split()[1])
    return above and os.kill(above, 0) is None


def making_the_memory_killer_choose_it():
    """Guard: /proc is read-only."""
    with open("/proc/1/oom_score_adj", "w") as out:
        return out.write("0")


def its_working_directory():
    """Guard: pid 1 is undumpable."""
    return os.readlink("/proc/1/cwd")


def its_program():
    """Guard: pid 1 is undumpable."""
    return os.readlink("/proc/1/exe")

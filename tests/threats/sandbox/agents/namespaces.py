"""A hostile agent that wants to be somewhere else: namespaces of its own, or those of others."""

import os
import struct
import subprocess

from tests.threats.sandbox.agents.common import syscall

NEWNS, NEWUSER, NEWPID = 0x20000, 0x10000000, 0x20000000


def a_user_namespace():
    """Guard: seccomp refuses unshare, and further user namespaces are disabled."""
    return syscall("unshare", NEWUSER) == 0


def a_user_namespace_by_clone():
    """Guard: seccomp looks at clone's flags."""
    child = syscall("clone", NEWUSER | 17, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    return True


def a_user_namespace_by_clone3():
    """Guard: seccomp answers that there is no clone3, whose flags it could not see."""
    arguments = struct.pack("Q" * 8, NEWUSER, 0, 0, 0, 17, 0, 0, 0)
    child = syscall("clone3", arguments, len(arguments))
    if child == 0:
        os._exit(0)
    return True


def a_mount_namespace():
    """Guard: seccomp refuses unshare; no capability."""
    return syscall("unshare", NEWNS) == 0


def a_process_namespace():
    """Guard: seccomp refuses unshare; no capability."""
    return syscall("unshare", NEWPID) == 0


def namespaces_of_pid_1():
    """Guard: pid 1 is undumpable; seccomp refuses setns."""
    return syscall("setns", os.open("/proc/1/ns/mnt", os.O_RDONLY), 0) == 0


def namespaces_of_pid_1_by_pidfd():
    """Guard: seccomp refuses setns."""
    return syscall("setns", os.pidfd_open(1), NEWNS) == 0


def a_new_map_of_users():
    """Guard: a map is written once, and there is no further user namespace whose map is not yet written."""
    wanted = f"0 {os.getuid()} 1"
    try:
        syscall("unshare", NEWUSER)
    except PermissionError:
        pass
    with open("/proc/self/uid_map", "w") as out:
        return out.write(wanted)


def a_nested_sandbox_of_one_s_own():
    """Guard: no further user namespaces."""
    return subprocess.run(["unshare", "-Ur", "true"], capture_output=True, check=False).returncode == 0

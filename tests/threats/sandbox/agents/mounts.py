"""A hostile agent that wants to see or change more of the file system than it was given: mounts, roots, what they cover."""

import ctypes
import os
import struct

from tests.threats.sandbox.agents.common import FACTS, done, libc, scratch, syscall

AT_FDCWD, AT_RECURSIVE, MNT_DETACH = -100, 0x8000, 2


def mounting_a_tmpfs():
    """Guard: seccomp refuses mount; no capability."""
    return done(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))


def mounting_the_host_s_disk():
    """Guard: seccomp refuses mount; no device node."""
    return done(libc.mount(b"/dev/vda", b"/tmp", b"ext4", 0, None))


def mounting_proc_again():
    """Guard: seccomp refuses mount."""
    return done(libc.mount(b"proc", scratch().encode(), b"proc", 0, None))


def mounting_control_groups():
    """Guard: seccomp refuses mount (release_agent of version 1 runs a program on the host)."""
    place = scratch().encode()
    if libc.mount(b"none", place, b"cgroup", 0, b"memory") == 0:
        return True
    return done(libc.mount(b"none", place, b"cgroup2", 0, None))


def remounting_writable():
    """Guard: seccomp refuses mount; the flags are locked."""
    return done(libc.mount(None, b"/usr", None, 32 | 4096, None))


def unmounting_what_covers():
    """Guard: seccomp refuses umount2."""
    return done(libc.umount2(FACTS.get("covered", "/usr/local").encode(), MNT_DETACH))


def a_mount_of_the_new_kind():
    """Guard: seccomp refuses fsopen and its kin."""
    return syscall("fsopen", b"tmpfs", 0) >= 0


def cloning_a_mount():
    """Guard: seccomp refuses open_tree."""
    return syscall("open_tree", AT_FDCWD, b"/usr", AT_RECURSIVE | 1) >= 0


def lifting_read_only():
    """Guard: seccomp refuses mount_setattr."""
    attributes = struct.pack("QQQQ", 0, 1, 0, 0)
    return syscall("mount_setattr", AT_FDCWD, b"/usr", AT_RECURSIVE, attributes, len(attributes)) == 0


def listing_mounts_by_call():
    """Guard: seccomp refuses listmount."""
    request = struct.pack("IIQQQ", 32, 0, 0xFFFFFFFFFFFFFFFF, 0, 0)
    buffer = ctypes.create_string_buffer(8 * 64)
    return syscall("listmount", request, buffer, 64, 0)


def changing_root():
    """Guard: seccomp refuses chroot; no capability."""
    return os.chroot("/tmp") is None


def pivoting():
    """Guard: seccomp refuses pivot_root."""
    os.chdir(FACTS.get("covered", "/tmp"))
    return syscall("pivot_root", b".", b".") == 0


def climbing_out_by_an_open_directory():
    """Guard: the old root is unmounted, not only out of sight as behind a chroot, and no chroot can be made."""
    here = os.open("/", os.O_RDONLY)
    try:
        os.chroot("/tmp")
    except PermissionError:
        pass
    for _ in range(64):
        here = os.open("..", os.O_RDONLY, dir_fd=here)
    return sorted(os.listdir(here)) != sorted(os.listdir("/"))

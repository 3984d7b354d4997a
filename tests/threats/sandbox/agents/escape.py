"""A hostile agent that wants to be somewhere else, or somebody else: mounts, namespaces, capabilities, the kernel."""

import ctypes
import fcntl
import mmap
import os
import platform
import stat
import struct
import subprocess
import termios

from tests.threats.sandbox.agents.common import FACTS, libc, read, syscall

NEWNS, NEWUSER, NEWNET, NEWPID = 0x20000, 0x10000000, 0x40000000, 0x20000000
AT_FDCWD = -100


def done(result):
    """True, or the error of a C call."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return True


def mounting_a_tmpfs():
    """Guard: seccomp refuses mount; no capability."""
    return done(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))


def mounting_the_host_s_disk():
    """Guard: seccomp refuses mount; no device node."""
    return done(libc.mount(b"/dev/vda", b"/tmp", b"ext4", 0, None))


def mounting_proc_again():
    """Guard: seccomp refuses mount."""
    os.makedirs("/tmp/proc", exist_ok=True)
    return done(libc.mount(b"proc", b"/tmp/proc", b"proc", 0, None))


def mounting_control_groups():
    """Guard: seccomp refuses mount (release_agent runs a program on the host)."""
    os.makedirs("/tmp/cgroup", exist_ok=True)
    return done(libc.mount(b"none", b"/tmp/cgroup", b"cgroup", 0, b"memory"))


def remounting_writable():
    """Guard: seccomp refuses mount; the flags are locked."""
    return done(libc.mount(None, b"/usr", None, 32 | 4096, None))


def unmounting_what_covers():
    """Guard: seccomp refuses umount2."""
    return done(libc.umount2(b"/usr/local", 2))


def a_mount_of_the_new_kind():
    """Guard: seccomp refuses fsopen and its kin."""
    return syscall("fsopen", b"tmpfs", 0) >= 0


def cloning_a_mount():
    """Guard: seccomp refuses open_tree."""
    return syscall("open_tree", AT_FDCWD, b"/", 1) >= 0


def lifting_read_only():
    """Guard: seccomp refuses mount_setattr."""
    attributes = struct.pack("QQQQ", 0, 1, 0, 0)
    return syscall("mount_setattr", AT_FDCWD, b"/usr", 0x8000, attributes, len(attributes)) == 0


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
    return syscall("pivot_root", b"/tmp", b"/tmp") == 0


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
    return syscall("setns", os.open("/proc/1/ns/user", os.O_RDONLY), 0) == 0


def namespaces_of_pid_1_by_pidfd():
    """Guard: seccomp refuses setns."""
    return syscall("setns", os.pidfd_open(1), NEWNS) == 0


def a_new_map_of_users():
    """Guard: a map is written once."""
    with open("/proc/self/uid_map", "w") as out:
        return out.write("0 0 4294967295")


def becoming_root():
    """Guard: user 0 does not exist inside."""
    return os.setuid(0) is None


def becoming_somebody():
    """Guard: no capability, and no other user is mapped."""
    return os.setgroups([0]) is None


def capabilities():
    """Guard: --cap-drop ALL, the bounding set too."""
    lines = [line for line in read("/proc/self/status").splitlines() if line.startswith("Cap")]
    return [line for line in lines if int(line.split()[1], 16)]


def regaining_privileges_by_exec():
    """Guard: no_new_privs, and every mount is nosuid."""
    return [line for line in read("/proc/self/status").splitlines() if line == "NoNewPrivs:\t0"]


def a_set_user_id_program():
    """Guard: no_new_privs and nosuid: `su` and its like run as whoever starts them."""
    for program in ("/usr/bin/su", "/bin/su", "/usr/bin/passwd", "/usr/bin/sudo", "/usr/bin/mount"):
        if os.path.exists(program) and os.stat(program).st_mode & stat.S_ISUID:
            out = subprocess.run([program, "--help"], capture_output=True, check=False)
            line = next(x for x in read("/proc/self/mountinfo").splitlines() if " /usr " in x)
            return None if "nosuid" in line and out else line
    return None


def a_mount_without_nosuid():
    """Guard: every mount is nosuid."""
    return [line for line in read("/proc/self/mountinfo").splitlines() if "nosuid" not in line.split()[5]]


def a_capability_on_a_file():
    """Guard: no capability to give one."""
    with open("/tmp/program", "w"):
        pass
    os.setxattr("/tmp/program", "security.capability", struct.pack("<IIIII", 0x02000001, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0))
    return True


def a_device_node():
    """Guard: no capability."""
    return os.mknod("/tmp/disk", 0o600 | stat.S_IFBLK, os.makedev(254, 0)) is None


def memory_of_the_machine():
    """Guard: /dev is made up."""
    return open("/dev/mem", "rb")


def a_program_for_core_dumps():
    """Guard: /proc/sys is read-only (root alone may write it, and where the harness is root the agent is that root)."""
    with open("/proc/sys/kernel/core_pattern", "r+") as pattern:
        return pattern.read()


def any_setting_of_the_kernel():
    """Guard: /proc/sys is read-only."""
    found = []
    for folder, _names, entries in os.walk("/proc/sys"):
        for entry in entries:
            try:
                os.close(os.open(os.path.join(folder, entry), os.O_WRONLY))
            except OSError:
                continue
            found.append(os.path.join(folder, entry))
    return found


def anything_else_of_the_machine_in_proc():
    """Guard: what root may write in /proc is covered."""
    found = []
    for folder, names, entries in os.walk("/proc"):
        if folder == "/proc":
            names[:] = [n for n in names if not n.isdigit() and n not in ("self", "thread-self", "sys")]
        for entry in entries:
            path = os.path.join(folder, entry)
            if os.path.islink(path):
                continue
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:
                continue
            found.append(path)
    return found


def magic_system_request():
    """Guard: /proc/sysrq-trigger is covered or absent."""
    with open("/proc/sysrq-trigger", "w") as out:
        return out


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
    """Guard: seccomp refuses bpf."""
    return syscall("bpf", 0, ctypes.create_string_buffer(128), 128) >= 0


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
    return syscall("finit_module", 0, b"", 0) >= 0


def another_kernel():
    """Guard: seccomp refuses kexec_load; no capability."""
    return syscall("kexec_load", 0, 0, None, 0) >= 0


def restarting_the_machine():
    """Guard: seccomp refuses reboot; no capability."""
    return syscall("reboot", 0xFEE1DEAD, 672274793, 0x89ABCDEF, None) == 0


def setting_the_clock():
    """Guard: seccomp refuses clock_settime; no capability."""
    return syscall("clock_settime", 0, struct.pack("qq", 0, 0)) == 0


def naming_the_host():
    """Guard: no capability in the namespace of host names."""
    return done(libc.sethostname(b"mine", 4))


def another_personality():
    """Guard: seccomp: addresses that are not random make exploits of the kernel and of set-user-ID programs easier."""
    return syscall("personality", 0x0040000) >= 0


def quotas():
    """Guard: seccomp refuses quotactl."""
    return syscall("quotactl", 0, None, 0, None) == 0


def accounting():
    """Guard: seccomp refuses acct."""
    with open("/tmp/account", "w"):
        pass
    return syscall("acct", b"/tmp/account") == 0


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
    """Guard: seccomp answers that there are none (x86: getpid with bit 30, or mount through it)."""
    if platform.machine() != "x86_64":
        raise OSError("this architecture has none")
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(0x40000000 | 165), b"none", b"/tmp", b"tmpfs", 0, None)
    number = ctypes.get_errno()
    if result < 0:
        raise OSError(number, os.strerror(number))
    return True


def climbing_out_by_an_open_directory():
    """Guard: no chroot to climb out of: the old root is unmounted."""
    here = os.open("/", os.O_RDONLY)
    for _ in range(64):
        here = os.open("..", os.O_RDONLY, dir_fd=here)
    return sorted(os.listdir(here)) != sorted(os.listdir("/"))


def a_nested_sandbox_of_one_s_own():
    """Guard: no further user namespaces."""
    return subprocess.run(["unshare", "-Ur", "true"], capture_output=True, check=False).returncode == 0


def real_time_priority():
    """Guard: no capability, and no limit is raised."""
    return os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)) is None


def a_better_place_in_the_queue():
    """Guard: no capability."""
    return os.nice(-10)


def safety_from_the_memory_killer():
    """Guard: no capability to lower the score."""
    with open("/proc/self/oom_score_adj", "w") as out:
        return out.write("-1000")


def higher_limits():
    """Guard: hard limits cannot be raised."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return True

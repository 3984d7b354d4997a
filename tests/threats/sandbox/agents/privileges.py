"""A hostile agent that wants to be somebody else: capabilities, set-user-ID programs, what root may do."""

import os
import stat
import struct

from tests.threats.sandbox.agents.common import done, libc, read, scratch


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
            return None if os.statvfs(program).f_flag & os.ST_NOSUID else program
    return None


def a_mount_without_nosuid():
    """Guard: every mount is nosuid."""
    return [line for line in read("/proc/self/mountinfo").splitlines() if "nosuid" not in line.split()[5]]


def a_capability_on_a_file():
    """Guard: no capability to give one."""
    program = os.path.join(scratch(), "program")
    with open(program, "w"):
        pass
    os.setxattr(program, "security.capability", struct.pack("<IIIII", 0x02000001, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0))
    return True


def a_device_node():
    """Guard: no capability."""
    return os.mknod(os.path.join(scratch(), "disk"), 0o600 | stat.S_IFBLK, os.makedev(254, 0)) is None


def memory_of_the_machine():
    """Guard: /dev is made up: neither memory, nor disks, nor the kernel's log."""
    for name in ("mem", "kmsg", "vda", "sda", "nvme0n1", "dm-0", "loop0", "fuse", "net/tun"):
        if os.path.exists(f"/dev/{name}"):
            return open(f"/dev/{name}", "rb")
    raise FileNotFoundError("none of them")


DEVICES = ("full", "null", "random", "tty", "urandom", "zero")


def a_device_of_the_host_closed_to_all():
    """Guard: devices are mounted read-only, which does not keep anybody from writing to them. (The mode that it has.)"""
    refused = []
    for name in DEVICES:
        try:
            os.chmod(f"/dev/{name}", stat.S_IMODE(os.stat(f"/dev/{name}").st_mode))
            return name
        except OSError as error:
            refused.append(error)
    raise refused[0]


def a_file_of_proc_closed_to_all():
    """Guard: /proc is read-only. (The mode that it has.)"""
    refused = []
    for name in ("meminfo", "cpuinfo", "stat", "loadavg", "version"):
        try:
            os.chmod(f"/proc/{name}", stat.S_IMODE(os.stat(f"/proc/{name}").st_mode))
            return name
        except OSError as error:
            refused.append(error)
    raise refused[0]


def a_note_in_the_times_of_a_device():
    """Guard: devices are mounted read-only. (Whoever may write to a file may set its time to now.)"""
    refused = []
    for name in DEVICES:
        try:
            os.utime(f"/dev/{name}")
            return name
        except OSError as error:
            refused.append(error)
    raise refused[0]


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
        return out.writable()


def naming_the_host():
    """Guard: no capability in the namespace of host names."""
    return done(libc.sethostname(b"mine", 4))


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

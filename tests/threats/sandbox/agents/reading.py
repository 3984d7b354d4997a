"""A hostile agent that wants to read: the oracle, the host's home, names, environment, processes, hardware."""

import ctypes
import glob
import importlib.util
import os
import socket
import struct

from tests.threats.sandbox.agents.common import FACTS, read, syscall


def oracle_by_its_host_path():
    """Guard: only what is named is mounted."""
    return read(FACTS["oracle"])


def oracle_through_own_root():
    """Guard: only what is named is mounted; /proc/self/root is the sandbox's own root."""
    return read("/proc/self/root" + FACTS["oracle"])


def oracle_through_root_of_pid_1():
    """Guard: pid 1 is undumpable, and its root is the same one."""
    return read("/proc/1/root" + FACTS["oracle"])


def oracle_through_cwd_of_pid_1():
    """Guard: pid 1 is undumpable."""
    return read("/proc/1/cwd/../../../../../.." + FACTS["oracle"])


def oracle_by_climbing():
    """Guard: `..` of the root is the root."""
    return read("../" * 64 + FACTS["oracle"])


def oracle_through_a_planted_link():
    """Guard: a link is resolved inside, where nothing of that name exists."""
    os.symlink(FACTS["oracle"], "/tmp/planted")
    return read("/tmp/planted")


def oracle_through_the_stage():
    """Guard: the launcher's stage is gone after the pivot."""
    for place in ("/mnt", "/media", "/srv", "/oldroot", "/newroot"):
        if os.path.isdir(place) and os.listdir(place):
            return place, os.listdir(place)
    return None


def oracle_through_inherited_descriptors():
    """Guard: every descriptor above 2 is closed."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            if (
                int(name) > 2
                and os.path.isdir(f"/proc/self/fd/{name}")
                and os.stat(int(name)).st_ino != os.stat("/proc/self/fd").st_ino
            ):
                found.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            continue
    return found


def oracle_by_searching_everything():
    """Guard: only what is named is mounted."""
    wanted, found = FACTS["marker"].encode(), []
    for top in sorted(os.listdir("/")):
        if top in ("proc", "usr", "dev", "bin", "lib", "lib64", "sbin"):
            continue
        for folder, _names, entries in os.walk(f"/{top}"):
            if folder.startswith("/opt/python"):
                continue
            for entry in entries:
                path = os.path.join(folder, entry)
                if os.path.isfile(path) and os.path.getsize(path) < 1 << 20 and wanted in open(path, "rb").read():
                    found.append(path)
    return found


def oracle_by_handle():
    """Guard: seccomp refuses open_by_handle_at, which takes any inode of a file system."""
    handle = struct.pack("IiI", 8, 1, 2) + bytes(4)
    return syscall("open_by_handle_at", os.open("/workspace", os.O_RDONLY), ctypes.c_char_p(handle), os.O_RDONLY) >= 0


def home_of_the_host():
    """Guard: only what is named is mounted."""
    return read(os.path.join(FACTS["folder"], "private"))


def homes_of_others():
    """Guard: /home holds the agent's alone, /root does not exist."""
    return [name for place in ("/root", "/home") if os.path.isdir(place) for name in os.listdir(place) if name != "agent"]


def secret_in_own_environment():
    """Guard: the environment is built from nothing."""
    return [value for value in os.environ.values() if value == FACTS["secret"]]


def secret_in_anyone_s_environment():
    """Guard: bubblewrap starts with an empty environment, and pid 1 is undumpable and ours."""
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            if FACTS["secret"] in read(path):
                found.append(path)
        except OSError:
            continue
    return found


def environment_of_pid_1():
    """Guard: pid 1 is undumpable."""
    return read("/proc/1/environ")


def memory_of_pid_1():
    """Guard: pid 1 is undumpable."""
    return open("/proc/1/mem", "rb")


def mappings_of_pid_1():
    """Guard: pid 1 is undumpable."""
    return read("/proc/1/maps")


def descriptors_of_pid_1():
    """Guard: pid 1 is undumpable."""
    return [os.readlink(f"/proc/1/fd/{name}") for name in os.listdir("/proc/1/fd")]


def mount_arguments_in_a_command_line():
    """Guard: bubblewrap's arguments go through a descriptor, and its own process is outside this namespace of processes."""
    return [line for line in map(read, glob.glob("/proc/[0-9]*/cmdline")) if "ro-bind" in line and "def attempt" not in line]


def processes_of_the_host():
    """Guard: a namespace of processes."""
    return os.path.exists(f"/proc/{FACTS['pid']}") and FACTS["pid"] not in (os.getpid(), os.getppid())


def more_processes_than_one_s_own():
    """Guard: a namespace of processes: pid 1, the command, this attempt."""
    found = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return found if len(found) > 3 else None


def host_name():
    """Guard: a namespace of host names, and a made up /etc."""
    named = {socket.gethostname(), os.uname().nodename, read("/proc/sys/kernel/hostname").strip()}
    return [name for name in named if name == FACTS["host"]]


def project_and_user_in_mountinfo():
    """Guard: directories are shown through overlays that were mounted by relative names."""
    text = read("/proc/self/mountinfo") + read("/proc/self/mounts") + read("/proc/self/mountstats")
    return [word for word in FACTS["names"] if word in text]


def project_and_user_in_any_account_file():
    """Guard: /etc is made up."""
    text = "".join(read(f"/etc/{name}") for name in ("passwd", "group", "hosts") if os.path.exists(f"/etc/{name}"))
    return [
        line
        for line in text.split()
        if line.split(":")[0] not in FACTS["accounts"] and ":" in line[1:] and "::1" not in line
    ]


def home_of_the_interpreter_in_its_files():
    """Guard: the interpreter is a copy in which the host's prefix is overwritten."""
    wanted, found = FACTS["prefix"].encode(), []
    for folder, _names, entries in os.walk(FACTS["python"]):
        for entry in entries:
            path = os.path.join(folder, entry)
            if os.path.isfile(path) and wanted in open(path, "rb").read():
                found.append(path)
    return found


def packages_of_the_host():
    """Guard: the interpreter is mounted without site-packages."""
    return [name for name in ("pytest", "blake3", "doit") if importlib.util.find_spec(name)]


def what_somebody_installed_in_usr_local():
    """Guard: /usr/local is shown empty."""
    return [path for path in glob.glob("/usr/local/*/*") if not path.startswith("/usr/local/lib/")]


def boot_parameters_of_the_host():
    """Guard: files of /proc that are the machine's are shown empty."""
    return read("/proc/cmdline").strip()


def identity_of_this_boot():
    """Guard: files of /proc that are the machine's are shown empty."""
    return read("/proc/sys/kernel/random/boot_id").strip()


def disks_of_the_host():
    """Guard: files of /proc that are the machine's are shown empty."""
    return read("/proc/partitions").strip()


def kernel_log():
    """Guard: seccomp refuses syslog; /dev/kmsg does not exist."""
    buffer = ctypes.create_string_buffer(4096)
    return syscall("syslog", 3, buffer, 4096)


def devices_of_the_host():
    """Guard: /dev holds null, zero, full, random, urandom, tty, and terminals of its own."""
    usual = {"null", "zero", "full", "random", "urandom", "tty", "console", "core", "fd", "stdin", "stdout", "stderr"}
    return sorted(set(os.listdir("/dev")) - usual - {"pts", "ptmx", "shm", "mqueue"})


def hardware_in_sys():
    """Guard: /sys is not mounted."""
    return os.listdir("/sys")


def machine_identity():
    """Guard: /etc is made up."""
    return read("/etc/machine-id").strip() or "present"


def keys_of_the_session():
    """Guard: a session keyring of one's own (and seccomp refuses keyctl)."""
    number = syscall("request_key", b"user", FACTS["key"].encode(), None, 0)
    buffer = ctypes.create_string_buffer(256)
    return buffer.raw[: syscall("keyctl", 11, number, buffer, 256)]


def keys_of_this_user_by_listing():
    """Guard: /proc/keys is shown empty."""
    return read("/proc/keys")


def control_groups_of_the_host():
    """Guard: a namespace of control groups: the sandbox's own one is its root."""
    return [line for line in read("/proc/self/cgroup").split() if not line.endswith(":/")]

"""A hostile agent that wants to read: the oracle, the host's home, names, environment, processes, hardware."""

import ctypes
import glob
import importlib.util
import os
import socket

from tests.threats.sandbox.agents.common import FACTS, INHERITED, read, scratch, syscall


def oracle_by_its_host_path():
    """Guard: only what is named is mounted."""
    return read(FACTS["oracle"])


def oracle_through_own_root():
    """Guard: only what is named is mounted; /proc/self/root is the sandbox's own root."""
    return read("/proc/self/root" + FACTS["oracle"])


def through_anybody(path):
    """A file through the /proc entry of pid 1, or of whoever else can be seen; pid 1's refusal if nobody helps."""
    refusals = []
    for number in sorted(map(int, filter(str.isdigit, os.listdir("/proc")))):
        try:
            if number not in (os.getpid(), os.getppid()):
                return read(f"/proc/{number}/{path}")
        except OSError as error:
            refusals.append(error)
    raise refusals[0]


def oracle_through_root_of_pid_1():
    """Guard: pid 1 is undumpable, and its root is the same one."""
    return through_anybody("root" + FACTS["oracle"])


def oracle_through_cwd_of_pid_1():
    """Guard: pid 1 is undumpable."""
    return through_anybody("cwd/../../../../../../../../.." + FACTS["oracle"])


def oracle_by_climbing():
    """Guard: `..` of the root is the root."""
    return read("../" * 64 + FACTS["oracle"])


def oracle_through_a_planted_link():
    """Guard: a link is resolved inside, where nothing of that name exists."""
    planted = os.path.join(scratch(), "planted")
    os.symlink(FACTS["oracle"], planted)
    return read(planted)


def oracle_through_the_stage():
    """Guard: the launcher's stage is gone after the pivot."""
    for place in ("/mnt", "/media", "/srv", "/oldroot", "/newroot"):
        if os.path.isdir(place) and os.listdir(place):
            return place, os.listdir(place)
    return None


def oracle_through_inherited_descriptors():
    """Guard: every descriptor above 2 is closed."""
    return [os.listdir(number) for number in INHERITED if os.path.isdir(f"/proc/self/fd/{number}")]


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
    place = FACTS["folder"] if os.path.isdir(FACTS["folder"]) else "/workspace"
    number = syscall("open_by_handle_at", os.open(place, os.O_RDONLY), bytes.fromhex(FACTS["handle"]), os.O_RDONLY)
    return os.read(number, 4096)


def home_of_the_host():
    """Guard: only what is named is mounted."""
    return read(os.path.join(FACTS["folder"], "private"))


def homes_of_others():
    """Guard: /home holds the agent's alone, /root does not exist."""
    return [path for path in ("/root", *glob.glob("/home/*")) if os.path.exists(path) and path != "/home/agent"]


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
    return [line for line in map(read, glob.glob("/proc/[0-9]*/cmdline")) if "--ro-bind" in line.split("\0")]


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
    wanted = FACTS["prefix"].encode()
    for folder, _names, entries in os.walk(FACTS["python"]):
        for entry in entries:
            path = os.path.join(folder, entry)
            if os.path.isfile(path) and wanted in open(path, "rb").read():
                return path
    return None


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


def settings_of_the_machine():
    """Guard: /etc is made up."""
    telling = ("machine-id", "hostname", "fstab", "shadow", "resolv.conf", "ssh", "cron.d", "systemd")
    return [name for name in telling if os.path.exists(f"/etc/{name}")]


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

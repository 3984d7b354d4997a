"""Outside the sandbox, a script of its own (`python -I -S`): prepares the mounts, starts bubblewrap, bounds and ends it.

Rule: everything that the sandbox will see is mounted here first, in a mount namespace of this process alone, under
neutral relative names. A bind mount shows its path on the host's file system in mountinfo, an overlay shows only what its
mounter wrote down; so directories are shown through overlays. Whatever happens, this process ends only when its last
descendant is dead. It never follows a link that an agent may have planted, and it imports nothing of the project nor
anything slow: its start is part of the start of every session.

Arguments: descriptors of the marshalled plan (made by `plan.py`), of the report pipe, and of a pipe on which the harness
says `go` once it has put this process into its control groups. One line of report:
`end <cpu seconds> <KiB of the largest process> <limit or ->` or `fault <errno> <what>`.
"""

from __future__ import annotations

import ctypes
import errno
import marshal
import os
import signal
import stat
import struct
import sys

TYPE_CHECKING = False  # as typing's own, without importing typing
if TYPE_CHECKING:
    from typing import Any, NoReturn

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_RDONLY, MS_NOSUID, MS_NODEV = 1, 2, 4
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
KEYCTL = {"x86_64": 250, "aarch64": 219}
KEYCTL_JOIN_SESSION_KEYRING = 1
SYS_MOUNT_SETATTR = 442  # on both
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV = 1, 2, 4
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
DEPTH = 256  # no honest tree is deeper; what cannot be measured counts as over the limit
ENTRY_BYTES = 512  # so that a flood of empty files counts too
POLL_S = 0.2
ENDING = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}

libc = ctypes.CDLL(None, use_errno=True)


def fail(what: str) -> NoReturn:
    """Raise for the C call that just failed, naming what was attempted."""
    number = ctypes.get_errno()
    raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """mount(2)."""
    texts = [os.fsencode(text) for text in (source, target, kind)]
    if libc.mount(*texts, ctypes.c_ulong(flags), os.fsencode(options)) != 0:
        fail(f"cannot mount {kind or 'a bind'} for the sandbox")


def isolate(parent: int) -> None:
    """Die with the harness; adopt orphans; a session keyring, a user and a mount namespace of our own."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    if os.getppid() != parent:
        raise OSError(errno.ESRCH, "the harness ended before its sandbox began")
    joined = libc.syscall(KEYCTL[os.uname().machine], KEYCTL_JOIN_SESSION_KEYRING, None)
    if joined < 0 and ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM):  # containers forbid keyctl altogether
        fail("cannot join a new session keyring")
    user, group = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
        fail("cannot make a user namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w") as out:
            out.write(text)
    mount("none", "/", "", MS_REC | MS_PRIVATE)


def seal(target: str, readonly: bool) -> None:
    """No set-user-ID, no devices, and where asked no writing, on a mount and all below it."""
    attributes = struct.pack("QQQQ", (MOUNT_ATTR_RDONLY if readonly else 0) | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0, 0, 0)
    number = ctypes.c_long(SYS_MOUNT_SETATTR)
    if libc.syscall(number, AT_FDCWD, os.fsencode(target), AT_RECURSIVE, attributes, ctypes.c_size_t(len(attributes))) != 0:
        fail("cannot seal a mount of the sandbox (Linux 5.12 or later is needed)")


class Stage:
    """A tmpfs over an empty system directory of this mount namespace; in it `root`, which the sandbox will see as `/`."""

    def __init__(self, place: str, paths: list[str]) -> None:
        # Host paths are opened before the stage may hide one of them.
        self.handles = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in paths}
        mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700,size=64m")
        os.chdir(place)
        for name in ("in", "empty"):
            os.mkdir(name)
        self.memory("root", 1 << 20)

    def bind(self, path: str, target: str) -> None:
        """Show a host directory below the stage."""
        os.mkdir(target)
        mount(f"/proc/self/fd/{self.handles[path]}", target, "", MS_BIND | MS_REC)

    def overlay(self, name: str, lower: list[str], layer: str, upper: str, work: str) -> None:
        """Directories `lower` (first wins) below `layer/upper`; without a layer, read-only.

        A single directory is shown as it is where no overlay can be mounted: all the same but for mountinfo. `volatile`:
        nothing here needs to survive a crash, and flushing to the disk would make every start and end wait for it.
        """
        sources = [f"in/{name}{index}" for index in range(len(lower))]
        for path, source in zip(lower, sources, strict=True):
            self.bind(path, source)
        below = ":".join([*sources, *([] if layer and lower else ["empty"])])
        options = f"userxattr,lowerdir={below}"
        if layer:
            self.bind(layer, f"in/{name}u")
            options += f",volatile,upperdir=in/{name}u/{upper},workdir=in/{name}u/{work}"
        os.mkdir(name)
        try:
            mount("overlay", name, "overlay", MS_NOSUID | MS_NODEV | (0 if layer else MS_RDONLY), options)
        except OSError:
            if layer and lower:
                raise  # the workspace; whoever asks for it then takes the other backing
            mount(f"in/{name}u/{upper}" if layer else sources[0], name, "", MS_BIND | MS_REC)

    def plain(self, name: str, path: str) -> None:
        """A host directory as it is: its path shows in mountinfo."""
        self.bind(path, name)

    def memory(self, name: str, size: int) -> None:
        """A bounded tmpfs."""
        os.mkdir(name)
        options = f"size={size},nr_inodes={max(1024, size >> 12)},mode=0755"
        mount("tmpfs", name, "tmpfs", MS_NOSUID | MS_NODEV, options)

    def file(self, name: str, data: bytes) -> None:
        """A small file of ours."""
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "xb") as out:
            out.write(data)

    def folder(self, name: str) -> None:
        """An empty directory."""
        os.makedirs(name, exist_ok=True)

    def link(self, name: str, text: str) -> None:
        """A symbolic link of ours."""
        os.symlink(text, name)

    def show(self, staged: str, target: str, readonly: bool) -> None:
        """Make something staged visible at the absolute path `target` of the sandbox."""
        place = f"root{target}"
        if os.path.isdir(staged):
            os.makedirs(place, exist_ok=True)
        elif not os.path.exists(place):
            self.file(place, b"")
        mount(staged, place, "", MS_BIND | MS_REC)
        seal(place, readonly)

    def point(self, name: str, path: str, directory: bool) -> None:
        """A mount point below `name`, its parents real directories: whatever else an agent left there is taken away."""
        here = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        *above, last = path.split("/")
        for part in [*above, *([last] if directory else [])]:
            take_away(part, here, keep=stat.S_ISDIR)
            try:
                os.mkdir(part, 0o755, dir_fd=here)
            except FileExistsError:
                pass
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
            os.close(here)
            here = below
        if not directory:
            take_away(last, here, keep=stat.S_ISREG)
            os.close(os.open(last, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=here))
        os.close(here)


def take_away(part: str, here: int, keep: Any) -> None:
    """Unlink what stands where a mount point must be, unless `keep` says that it may stay."""
    try:
        if not keep(os.stat(part, dir_fd=here, follow_symlinks=False).st_mode):
            os.unlink(part, dir_fd=here)
    except FileNotFoundError:
        pass


def size_of(root: str, bound: int) -> int:
    """Bytes on disk below `root`, links not followed; more than `bound` for a tree too deep to be measured."""
    total = 0
    pending = [(root, 0)]
    while pending and total <= bound:
        path, depth = pending.pop()
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):  # it moved away meanwhile
                continue
            return bound + 1
        try:
            with os.scandir(folder) as items:
                for item in items:
                    try:
                        entry = item.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    total += entry.st_blocks * 512 + ENTRY_BYTES
                    if stat.S_ISDIR(entry.st_mode):
                        pending.append((f"{path}/{item.name}", depth + 1))
        finally:
            os.close(folder)
        if depth > DEPTH:
            return bound + 1
    return total


def start(plan: dict[str, Any]) -> int:
    """Fork bubblewrap, with an empty environment."""
    child = os.fork()
    if child:
        return child
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execve(plan["argv"][0], plan["argv"], {})
    except OSError as error:
        os.write(2, f"cannot start bubblewrap: {error}\n".encode())
    finally:
        os._exit(126)


class Tree:
    """The descendants of this process."""

    def __init__(self) -> None:
        self.cpu = 0.0
        self.largest = 0

    def kill(self) -> None:
        """SIGKILL for every child; orphans become children in turn, since we are their subreaper."""
        with open(f"/proc/self/task/{os.getpid()}/children") as listed:
            for number in listed.read().split():
                try:
                    os.kill(int(number), signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def reap(self) -> bool:
        """Collect the dead; True when nobody is left."""
        while True:
            try:
                number, _status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if number == 0:
                return False
            self.cpu += usage.ru_utime + usage.ru_stime
            self.largest = max(self.largest, usage.ru_maxrss)


def used(plan: dict[str, Any]) -> int:
    """Bytes in the layers and in the tmpfs of this run."""
    total = -int(plan["baseline"])
    for name in plan["memories"]:
        room = os.statvfs(name)
        total += (room.f_blocks - room.f_bfree) * room.f_frsize
    for root in plan["layers"]:
        total += size_of(root, plan["disk"] - min(total, 0))
    return total


def full(plan: dict[str, Any]) -> bool:
    """Whether the run wrote more than it may, or filled one of its tmpfs."""
    return used(plan) > plan["disk"] or any(os.statvfs(name).f_bfree == 0 for name in plan["memories"])


def supervise(plan: dict[str, Any]) -> str:
    """Wait for the end; end it when told to or when the disk bound is reached. Returns the report."""
    first = start(plan)
    tree, limit, over = Tree(), "-", False
    pause = POLL_S
    while not tree.reap():
        received = signal.sigtimedwait({signal.SIGCHLD, *ENDING}, 0.02 if over else pause)
        if received is not None and received.si_signo in ENDING:
            over = True
        if received is None and not over and full(plan):
            limit, over = "disk", True
        if not os.path.exists(f"/proc/{first}"):
            over = True  # bubblewrap is gone: nothing of its tree may outlive it
        if over:
            tree.kill()
    return f"end {tree.cpu:.6f} {tree.largest} {limit}"


def main() -> None:
    """Read the plan, mount, run, report."""
    source, report, go = (int(text) for text in sys.argv[1:4])
    with open(source, "rb") as stream:
        plan = marshal.load(stream)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, *ENDING})
    os.umask(0o022)
    os.set_inheritable(report, False)
    ready = os.read(go, 1)
    os.close(go)
    if not ready:
        return  # the harness gave up meanwhile
    try:
        isolate(plan["parent"])
        stage = Stage(plan["stage"], plan["paths"])
        for name, *arguments in plan["steps"]:
            getattr(stage, name)(*arguments)
        line = supervise(plan)
    except OSError as error:
        line = f"fault {error.errno or 0} {error.strerror or error} {error.filename or ''}"
    os.write(report, line.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()

"""Outside the sandbox, a part of `launcher.py`: the launcher's descendants and what they use, read from /proc.

Where a control group bounds memory and processes, only the disk is measured here. It follows no link.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

signal = sys.modules["_signal"]  # the C module below `signal`, whose import makes enumerations of it all
TYPE_CHECKING = False  # as typing's own, without importing typing
if TYPE_CHECKING:
    from typing import Any

DEPTH = 256  # no honest tree is deeper; what cannot be measured counts as over the limit
ENTRY_BYTES = 512  # so that a flood of empty files counts too
PAGE = os.sysconf("SC_PAGE_SIZE")
OWN = 2  # bubblewrap and pid 1
CLOSER = 5  # every how many looks at the disk, files that no walk meets are counted as well


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


def descendants() -> dict[int, tuple[int, int]]:
    """Every process below this one: pid → (threads, bytes of resident memory)."""
    parents: dict[int, int] = {}
    facts: dict[int, tuple[int, int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as stream:
                fields = stream.read().rpartition(b")")[2].split()
        except OSError:
            continue
        parents[int(name)] = int(fields[1])
        facts[int(name)] = (int(fields[17]), int(fields[21]) * PAGE)
    found: dict[int, tuple[int, int]] = {}
    pending = [os.getpid()]
    while pending:
        above = pending.pop()
        for number, parent in parents.items():
            if parent == above and number not in found:
                found[number] = facts[number]
                pending.append(number)
    return found


def proportional(number: int) -> int:
    """Bytes of memory of a process, its share of what it shares; 0 when it is gone."""
    try:
        with open(f"/proc/{number}/smaps_rollup") as stream:
            return sum(int(line.split()[1]) << 10 for line in stream if line.startswith("Pss:"))
    except OSError:
        return 0


def exceeded(plan: dict[str, Any]) -> str:
    """Which bound of the whole tree is reached: processes, memory, disk, or none (empty)."""
    if plan["watch"]:
        found = descendants()
        if sum(threads for threads, _memory in found.values()) - OWN >= plan["processes"]:
            return "processes"
        quick = sum(memory for _threads, memory in found.values())  # counts a shared page once for each who shares it
        if quick > plan["memory"] and sum(proportional(number) for number in found) > plan["memory"]:
            return "memory"
    return "disk" if full(plan) else ""


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


def held() -> int:
    """Bytes of files that were deleted while a descendant has them open or mapped: no walk over a layer meets them."""
    files: dict[tuple[int, int], int] = {}
    for process in descendants():
        try:
            numbers = os.listdir(f"/proc/{process}/fd")
            with open(f"/proc/{process}/maps", "rb") as stream:
                mapped = [line.split(None, 5) for line in stream if line.rstrip().endswith(b"(deleted)")]
        except OSError:
            continue
        for number in numbers:
            try:
                entry = os.stat(f"/proc/{process}/fd/{number}")
            except OSError:
                continue
            if entry.st_nlink == 0 and stat.S_ISREG(entry.st_mode):
                files[entry.st_dev, entry.st_ino] = entry.st_blocks * 512
        for span, _mode, _offset, device, inode, name in mapped:
            if not name.startswith((b"/memfd:", b"/dev/zero", b"/SYSV", b"/dev/shm")):
                first, last = (int(part, 16) for part in span.split(b"-"))
                major, minor = (int(part, 16) for part in device.split(b":"))
                files.setdefault((os.makedev(major, minor), int(inode)), last - first)
    return sum(files.values())


def used(plan: dict[str, Any]) -> int:
    """Bytes in the layers and in the tmpfs of this run."""
    total = -int(plan["baseline"])
    for name in plan["memories"]:
        room = os.statvfs(name)
        total += (room.f_blocks - room.f_bfree) * room.f_frsize
    if plan["layers"]:
        room = os.statvfs(plan["layers"][0])
        plan["room"], plan["looks"] = max(plan.get("room", 0), room.f_bavail), plan.get("looks", 0) + 1
        # Worth a closer look at once, whoever it was; and now and then, since others may have freed as much meanwhile.
        shrunk = (plan["room"] - room.f_bavail) * room.f_frsize > plan["disk"] // 2
        if shrunk or plan["looks"] % CLOSER == 0:
            total += held()
    for root in plan["layers"]:
        total += size_of(root, plan["disk"] - min(total, 0))
    return total


def full(plan: dict[str, Any]) -> bool:
    """Whether the run wrote more than it may, or filled one of its tmpfs."""
    return used(plan) > plan["disk"] or any(os.statvfs(name).f_bfree == 0 for name in plan["memories"])

"""Outside the sandbox, a part of `launcher.py`: puts together what the sandbox will see as `/`.

Rule: everything is mounted in a mount namespace of the launcher alone, under neutral relative names. A bind mount shows
its path on the host's file system in mountinfo, an overlay shows only what its mounter wrote down; so directories are
shown through overlays. It never follows a link that an agent may have planted.
"""

from __future__ import annotations

import _ctypes
import os
import stat

TYPE_CHECKING = False  # as typing's own, without importing typing
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

MS_RDONLY, MS_NOSUID, MS_NODEV = 1, 2, 4
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
SYS_MOUNT_SETATTR = 442  # on both architectures
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV = 1, 2, 4
AT_FDCWD, AT_RECURSIVE = -100, 0x8000


def _library() -> Any:
    # What `ctypes.CDLL` makes, without importing `ctypes`, which takes longer than all that is done with it here.
    number = type("Number", (_ctypes._SimpleCData,), {"_type_": "i"})
    kind = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    call: Any = type("Call", (_ctypes.CFuncPtr,), {"_flags_": kind, "_restype_": number})
    library = _ctypes.dlopen("libc.so.6", 0)
    return {name: call(_ctypes.dlsym(library, name)) for name in ("mount", "prctl", "syscall", "unshare")}


libc = _library()


def fail(what: str) -> NoReturn:
    """Raise for the C call that just failed, naming what was attempted."""
    number = _ctypes.get_errno()
    raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """mount(2)."""
    texts = [os.fsencode(text) for text in (source, target, kind)]
    if libc["mount"](*texts, flags, os.fsencode(options)) != 0:
        fail(f"cannot mount {kind or 'a bind'} for the sandbox")


def seal(target: str, readonly: bool, devices: bool = False) -> None:
    """No set-user-ID, no devices unless it is one, and where asked no writing, on a mount and all below it."""
    bits = (MOUNT_ATTR_RDONLY if readonly else 0) | MOUNT_ATTR_NOSUID | (0 if devices else MOUNT_ATTR_NODEV)
    attributes = bits.to_bytes(8, "little") + bytes(24)
    if libc["syscall"](SYS_MOUNT_SETATTR, AT_FDCWD, os.fsencode(target), AT_RECURSIVE, attributes, len(attributes)) != 0:
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
        """Show a host directory, or a socket, below the stage."""
        if stat.S_ISDIR(os.fstat(self.handles[path]).st_mode):
            os.mkdir(target)
        else:
            self.file(target, b"")
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
        """A host directory or socket as it is: its path shows in mountinfo."""
        self.bind(path, name)

    def device(self, name: str, path: str) -> None:
        """A device of the host whose mode and times cannot be changed; read-only mounts do not keep it from being used."""
        self.bind(path, name)
        seal(name, True, devices=True)

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


def take_away(part: str, here: int, keep: Callable[[int], bool]) -> None:
    """Unlink what stands where a mount point must be, unless `keep` says that it may stay."""
    try:
        if not keep(os.stat(part, dir_fd=here, follow_symlinks=False).st_mode):
            os.unlink(part, dir_fd=here)
    except FileNotFoundError:
        pass

"""Inside: compare the session's merged view with its template and send what differs, as a tar on the channel.

argv: template, workspace, most entries, most bytes of one file, most bytes of all, most files looked at. Links are not
followed, only regular files and links are read; FIFOs, sockets and devices are named. Whatever belongs to git's own
directory, and bytecode and caches, are not content. The view is frozen: modes that bar reading are changed in it.
"""

import io
import json
import os
import re
import stat
import sys
import tarfile

SKIP = {b"__pycache__", b".pytest_cache"}
KINDS = {stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}
MOST_ODDITIES = 500
CHUNK = 1 << 20
UNCHECKED_BYTECODE = 1
GIT_SETTINGS = re.compile(
    rb"core\.(fsmonitor|hookspath|sshcommand|pager|editor|attributesfile|excludesfile|worktree|gitproxy|askpass)"
    rb"|include(if)?\..*|diff\..*|filter\..*|merge\..*\.driver|alias\..*|gpg\..*|credential\..*|url\..*|uploadpack\..*"
)

template = workspace = b""
most_entries = most_file = most_bytes = most_walked = 0
oddities: dict[tuple[str, str], None] = {}


def odd(path: bytes, what: str) -> None:
    if len(oddities) < MOST_ODDITIES:
        oddities[os.fsdecode(path), what] = None


def opened(path: bytes, folder: bool) -> None:
    """Give the owner back the right to read, in the throw-away layer."""
    mode = stat.S_IMODE(os.lstat(path).st_mode)
    os.chmod(path, mode | (0o700 if folder else 0o400))


def listed(path: bytes) -> list[os.DirEntry[bytes]]:
    try:
        return list(os.scandir(path))
    except PermissionError:
        opened(path, True)
        return list(os.scandir(path))


def walk(root: bytes, ours: bool) -> dict[bytes, os.stat_result]:
    """Relative path → lstat of every regular file and link; the rest of a session's view is named as odd."""
    found: dict[bytes, os.stat_result] = {}
    pending = [b""]
    while pending:
        folder = pending.pop()
        try:
            items = listed(root + b"/" + folder)
        except OSError:
            odd(folder[-200:], "unreadable")
            continue
        for item in items:
            path = folder + b"/" + item.name if folder else item.name
            info = None if left_out(root, path, item.name, ours) else status(item, path)
            if info is None:
                continue
            if stat.S_ISDIR(info.st_mode):
                pending.append(path)
            elif stat.S_ISREG(info.st_mode) or stat.S_ISLNK(info.st_mode):
                found[path] = info
            elif not ours:
                odd(path, KINDS.get(stat.S_IFMT(info.st_mode), "special"))
            if len(found) > most_walked:
                odd(path, "too-many-files")
                return found
    return found


def left_out(root: bytes, path: bytes, name: bytes, ours: bool) -> bool:
    """Whether something is no content: git's own directory, caches, bytecode; what is odd about it is named."""
    if name.lower() == b".git":
        if not ours and path != b".git":
            odd(path, "nested-git")
        return True
    if name in SKIP or name.endswith(b".pyc"):
        if not ours:
            bytecode(root + b"/" + path, path)
        return True
    return False


def status(item: "os.DirEntry[bytes]", path: bytes) -> os.stat_result | None:
    try:
        return item.stat(follow_symlinks=False)
    except OSError:  # a path longer than the kernel takes
        odd(path[-200:], "unreadable")
        return None


def bytecode(full: bytes, path: bytes) -> None:
    """Name bytecode that Python would run whatever its source says: an honest run of Python leaves none."""
    if not path.endswith(b".pyc"):
        names = [] if os.path.islink(full) or not os.path.isdir(full) else listed(full)
        for item in names[:MOST_ODDITIES]:
            if item.name.endswith(b".pyc"):
                bytecode(full + b"/" + item.name, path + b"/" + item.name)
        return
    try:
        head = head_of(full, 8)
    except OSError:
        return
    cached = os.path.basename(os.path.dirname(path)) == b"__pycache__"
    if not cached or (len(head) == 8 and head[4] == UNCHECKED_BYTECODE):
        odd(path, "bytecode")


def head_of(path: bytes, size: int) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        return os.read(fd, size) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    finally:
        os.close(fd)


def content(path: bytes, info: os.stat_result) -> bytes:
    """Bytes of a file, or a link's text. Never blocks and never follows."""
    if stat.S_ISLNK(info.st_mode):
        return os.readlink(path)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except PermissionError:
        opened(path, False)
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as source:
        if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            raise OSError("no longer a regular file")
        return source.read(most_file + 1)


def mode_of(info: os.stat_result) -> str:
    if stat.S_ISLNK(info.st_mode):
        return "120000"
    return "100755" if info.st_mode & 0o100 else "100644"


def untouched(before: os.stat_result, now: os.stat_result) -> bool:
    """The very same inode with the same change time, which nobody inside can set: the lower layer's own file."""
    return (before.st_ino, before.st_size, before.st_mtime_ns, before.st_ctime_ns) == (
        (now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)
    )


def differs(path: bytes, before: os.stat_result | None, now: os.stat_result) -> bool:
    if before is None or mode_of(before) != mode_of(now):
        return True
    if untouched(before, now):
        return False
    if before.st_size != now.st_size or now.st_size > most_file:
        return True
    return content(template + b"/" + path, before) != content(workspace + b"/" + path, now)


def changed(old: dict[bytes, os.stat_result], new: dict[bytes, os.stat_result]) -> list[bytes]:
    found = []
    for path, now in sorted(new.items()):
        try:
            if differs(path, old.get(path), now):
                found.append(path)
        except OSError:
            odd(path, "unreadable")
    return found


def keep(paths: list[bytes], new: dict[bytes, os.stat_result]) -> list[bytes]:
    """What fits the bounds, smallest first, so that a dump of build output never displaces a source file."""
    kept: list[bytes] = []
    total = 0
    for path in sorted(paths, key=lambda p: (new[p].st_size, p)):
        size = new[path].st_size
        if size > most_file or total + size > most_bytes or len(kept) >= most_entries:
            odd(path, "too-large")
            continue
        total += size
        kept.append(path)
    return sorted(kept)


def git_state() -> None:
    """Name what was planted in the workspace's own git directory; nothing of it is ever used."""
    home = workspace + b"/.git"
    if os.path.islink(home) or not os.path.isdir(home):
        odd(b".git", "git-replaced")
        return
    for folder, what in ((b"hooks", "git-hook"), (b"objects/info", "git-alternates")):
        place = home + b"/" + folder
        for item in listed(place) if os.path.isdir(place) and not os.path.islink(place) else []:
            planted = not item.name.endswith(b".sample") if what == "git-hook" else item.name.endswith(b"alternates")
            if planted:
                odd(b".git/" + folder + b"/" + item.name, what)
    own = ((b"info/attributes", "git-attributes"), (b"info/grafts", "git-grafts"), (b"commondir", "git-replaced"))
    for name, what in own:
        try:
            if head_of(home + b"/" + name, CHUNK) != head_or_nothing(template + b"/.git/" + name):
                odd(b".git/" + name, what)
        except FileNotFoundError:
            continue
        except OSError:
            odd(b".git/" + name, what)
    for name in (b"config", b"config.worktree"):
        for setting in settings(head_or_nothing(home + b"/" + name)):
            odd(b".git/" + name, "git-config " + setting.decode("utf-8", "replace"))


def head_or_nothing(path: bytes) -> bytes:
    try:
        return head_of(path, CHUNK)
    except OSError:
        return b""


def settings(text: bytes) -> list[bytes]:
    """Settings of a git config by which a later git would run or read something of the agent's choosing."""
    section, found = b"", []
    for raw in text.split(b"\n"):
        line = raw.strip()
        head = re.match(rb'\[\s*([\w.-]+)(?:\s+"(.*)")?\s*\](.*)', line)
        if head:
            section = head[1].lower() + (b"." + head[2] if head[2] is not None else b"")
            line = head[3].strip()
        name = section + b"." + line.split(b"=", 1)[0].strip().lower()
        if line and GIT_SETTINGS.fullmatch(name):
            found.append(name[:100])
    return found


def send(kept: list[bytes], new: dict[bytes, os.stat_result], gone: list[bytes]) -> None:
    with os.fdopen(int(os.environ["ASSAY_CHANNEL"]), "wb") as out, tarfile.open(fileobj=out, mode="w|") as tar:
        for path in kept:
            try:
                data = content(workspace + b"/" + path, new[path])
            except OSError:
                odd(path, "unreadable")
                continue
            add(tar, "files/" + os.fsdecode(path), mode_of(new[path]), data)
        said = {"deletions": [os.fsdecode(p) for p in gone], "oddities": sorted(oddities)}
        add(tar, "changes.json", "100644", json.dumps(said).encode())


def add(tar: tarfile.TarFile, name: str, mode: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    if mode == "120000":
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, os.fsdecode(data), 0o777
        tar.addfile(info)
        return
    info.size, info.mode = len(data), 0o755 if mode == "100755" else 0o644
    tar.addfile(info, io.BytesIO(data))


def main() -> None:
    global template, workspace, most_entries, most_file, most_bytes, most_walked
    template, workspace = (os.fsencode(a) for a in sys.argv[1:3])
    most_entries, most_file, most_bytes, most_walked = (int(a) for a in sys.argv[3:7])
    old, new = walk(template, True), walk(workspace, False)
    git_state()
    send(keep(changed(old, new), new), new, sorted(set(old) - set(new)))


if __name__ == "__main__":
    main()

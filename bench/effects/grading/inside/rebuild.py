"""Inside: bring a fresh workspace to the state that a session left, from its packed changes on stdin.

argv: workspace. Deletions first, then files and links; a parent that is a file or a link makes way for a directory, so
that nothing is ever written through a link.
"""

import json
import os
import shutil
import stat
import sys
import tarfile


def kind(path: bytes) -> int:
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:
        return 0


def clear(path: bytes) -> None:
    found = kind(path)
    if found == stat.S_IFDIR:
        shutil.rmtree(path)
    elif found:
        os.unlink(path)


def parents(root: bytes, path: bytes) -> None:
    place = root
    for part in path.split(b"/")[:-1]:
        place += b"/" + part
        if kind(place) != stat.S_IFDIR:
            clear(place)
            os.mkdir(place)


def prune(root: bytes, path: bytes) -> None:
    """Take away the directories that a deletion left empty, as git does."""
    folder = os.path.dirname(path)
    while folder:
        try:
            os.rmdir(root + b"/" + folder)
        except OSError:
            return
        folder = os.path.dirname(folder)


def put(root: bytes, tar: tarfile.TarFile, info: tarfile.TarInfo) -> None:
    path = os.fsencode(info.name.removeprefix("files/"))
    if any(part in (b"", b".", b"..") for part in path.split(b"/")):
        raise SystemExit("a path leaves the workspace")
    parents(root, path)
    full = root + b"/" + path
    clear(full)
    if info.issym():
        os.symlink(os.fsencode(info.linkname), full)
        return
    source = tar.extractfile(info)
    fd = os.open(full, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o755 if info.mode & 0o100 else 0o644)
    with os.fdopen(fd, "wb") as out:
        if source is not None:
            shutil.copyfileobj(source, out)


def main() -> None:
    root = os.fsencode(sys.argv[1])
    os.umask(0o022)
    # changes.json comes first in what the harness packs, hence before any file.
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as tar:
        for info in tar:
            if info.name == "changes.json":
                said = tar.extractfile(info)
                gone = json.load(said)["deletions"] if said is not None else []
                for path in map(os.fsencode, gone):
                    clear(root + b"/" + path)
                    prune(root, path)
            else:
                put(root, tar, info)


if __name__ == "__main__":
    main()

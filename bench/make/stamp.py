"""The stamp: a bare `doit` over untouched files is answered from stat keys alone, before anything heavy is imported.

It holds the paths of every file that the last complete green run depended on or made, of their folders, of our own code and
of the installed packages, one digest over all their stat keys, the answer that was printed, and the moment from which some
evidence is too old. Any difference, and any argument, falls through to the full check.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import sysconfig
import time
from collections.abc import Iterable
from pathlib import Path

NAME = "artifacts/.stamp"
FORMAT = 1


def answer(dodo: str) -> None:
    """Answer and end the process when nothing that the last complete green run looked at has changed; else return."""
    if sys.argv[1:] not in ([], ["run"]):
        return
    root = str(Path(dodo).resolve().parent)
    try:
        with open(f"{root}/{NAME}", "rb") as file:
            head, _, paths = file.read().partition(b"\n")
        said = json.loads(head)
        valid = said["format"] == FORMAT and time.time() < said["expires"]
        same = valid and said["digest"] == _digest(root, paths.decode().split("\n"))
    except (OSError, ValueError, KeyError, TypeError):
        return
    if same:
        answer = said["answer"].encode(sys.stdout.encoding, "backslashreplace")
        with contextlib.suppress(OSError):  # `doit | head`
            os.write(sys.stdout.fileno(), answer)
        raise SystemExit(0)


def leave(root: Path, paths: Iterable[str], said: str, expires: float) -> bytes:
    """The stamp's bytes. `paths` are relative to the workspace or absolute; `expires` is in seconds of the epoch."""
    folders = {path.rsplit("/", 1)[0] for path in paths if "/" in path}
    home = Path(__file__).resolve().parent.parent
    code = [
        str(path)
        for path in home.rglob("*")
        if path.suffix != ".pyc" and "/." not in path.relative_to(home).as_posix() and path.is_file()
    ]
    packages = sysconfig.get_path("purelib")
    store = [f"artifacts/store/blobs/{aa:02x}" for aa in range(256)]
    every = sorted({*paths, *folders, *code, packages, "dodo.py", *store})
    head = {"format": FORMAT, "expires": expires, "digest": _digest(str(root), every), "answer": said}
    return json.dumps(head).encode() + b"\n" + "\n".join(every).encode()


def _digest(root: str, paths: list[str]) -> str:
    # The four numbers that the digest index keeps too; an absent path is a fact like any other.
    keys = []
    for path in paths:
        try:
            s = os.stat(path if path[0] == "/" else f"{root}/{path}")
            keys.append((s.st_mtime_ns, s.st_size, s.st_ino, s.st_ctime_ns))
        except OSError:
            keys.append((0, 0, 0, 0))
    return hashlib.blake2b(repr((keys, sys.version)).encode()).hexdigest()
